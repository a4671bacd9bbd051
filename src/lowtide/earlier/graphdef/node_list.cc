// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/node_list.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/proto/proto.h"

namespace lowtide {
namespace {

namespace graph_field = graphdef_internal::graph_field;
namespace node_field = graphdef_internal::node_field;

std::string owned_text(const ProtoMessage& message, std::uint32_t number) {
  return std::string(find_text(message, number).value_or(""));
}

bool has_member(std::uint32_t field) {
  return field == node_field::kName || field == node_field::kOp || field == node_field::kInput ||
         field == node_field::kDevice || field == node_field::kAttribute;
}

DefNode node_of(const ProtoMessage& message) {
  DefNode node{.name = owned_text(message, node_field::kName),
               .op = owned_text(message, node_field::kOp),
               .device = owned_text(message, node_field::kDevice),
               .inputs = {},
               .attributes = {}};
  for (std::string_view input : texts_of(message, node_field::kInput)) node.inputs.emplace_back(input);
  for (const ProtoMessage* entry : messages_of(message, node_field::kAttribute)) node.attributes.push_back(*entry);
  for (const ProtoField& field : message.fields) {
    if (!has_member(field.number)) node.others.fields.push_back(field);
  }
  return node;
}

ProtoMessage message_of(DefNode node) {
  ProtoMessage message;
  add_text(message, node_field::kName, std::move(node.name));
  add_text(message, node_field::kOp, std::move(node.op));
  for (std::string& input : node.inputs) add_text(message, node_field::kInput, std::move(input));
  if (!node.device.empty()) add_text(message, node_field::kDevice, std::move(node.device));
  for (ProtoMessage& entry : node.attributes) add_message(message, node_field::kAttribute, std::move(entry));
  std::ranges::move(node.others.fields, std::back_inserter(message.fields));
  return message;
}

}  // namespace

std::vector<DefNode> nodes_of_graphdef(const ProtoMessage& graphdef) {
  std::vector<DefNode> nodes;
  for (const ProtoMessage* message : messages_of(graphdef, graph_field::kNode)) nodes.push_back(node_of(*message));
  return nodes;
}

std::int64_t count_nodes(const ProtoMessage& graphdef) {
  return static_cast<std::int64_t>(messages_of(graphdef, graph_field::kNode).size());
}

ProtoMessage with_nodes(const ProtoMessage& graphdef, std::vector<DefNode> nodes) {
  ProtoMessage result;
  for (DefNode& node : nodes) add_message(result, graph_field::kNode, message_of(std::move(node)));
  for (const ProtoField& field : graphdef.fields) {
    if (field.number != graph_field::kNode) result.fields.push_back(field);
  }
  return result;
}

Result<std::string> write_graphdef(const ProtoMessage& graphdef, bool is_text) {
  if (!is_text) return write_proto_binary(graphdef);
  return write_proto_text(graphdef_internal::kGraphSchema, graphdef);
}

DefInput read_input(std::string_view input) {
  if (input.starts_with('^')) return {.node = input.substr(1), .port = 0, .is_control = true};
  const std::size_t colon = input.rfind(':');
  const auto port = colon == std::string_view::npos ? std::nullopt : parse_number(input.substr(colon + 1));
  return port ? DefInput{.node = input.substr(0, colon), .port = *port} : DefInput{.node = input};
}

std::string shown_node(std::string_view name, std::string_view op) {
  return "node " + quoted(name, 60) + " (" + quoted(op, 60) + ")";
}

}  // namespace lowtide
