// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/op_view.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/earlier/netdef/argument_number.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/net.h"

namespace lowtide::netdef_internal {

OpView::OpView(const ProtoMessage& op)
    : op_(&op),
      type_(find_text(op, op_field::kType).value_or("")),
      name_(find_text(op, op_field::kName).value_or("")),
      inputs_(texts_of(op, op_field::kInput)),
      outputs_(texts_of(op, op_field::kOutput)),
      arguments_(messages_of(op, op_field::kArgument)) {}

const ProtoMessage* OpView::argument(std::string_view name) const {
  for (const ProtoMessage* one : arguments_) {
    if (find_text(*one, argument_field::kName) == name) return one;
  }
  return nullptr;
}

std::int64_t OpView::integer(std::string_view name, std::int64_t otherwise) const {
  const ProtoMessage* found = argument(name);
  if (found == nullptr) return otherwise;
  const std::optional<std::uint64_t> value = find_number(*found, argument_field::kInteger);
  return value ? static_cast<std::int64_t>(*value) : otherwise;
}

double OpView::real(std::string_view name, double otherwise) const {
  const ProtoMessage* found = argument(name);
  const auto number = found == nullptr ? std::nullopt : number_of_argument(*found);
  return number ? std::visit([](auto value) { return static_cast<double>(value); }, *number) : otherwise;
}

std::optional<std::vector<std::int64_t>> OpView::integers(std::string_view name) const {
  const ProtoMessage* found = argument(name);
  if (found == nullptr) return std::nullopt;
  std::vector<std::int64_t> values;
  for (std::uint64_t value : numbers_of(*found, argument_field::kIntegers)) {
    values.push_back(static_cast<std::int64_t>(value));
  }
  return values;
}

std::string_view OpView::text(std::string_view name, std::string_view otherwise) const {
  const ProtoMessage* found = argument(name);
  return found == nullptr ? otherwise : find_text(*found, argument_field::kText).value_or(otherwise);
}

std::string shown_op(const OpView& op, std::size_t at) {
  const std::string name = op.name().empty() ? "" : " " + quoted(op.name(), 60);
  return "operator " + std::to_string(at) + name + " (" + quoted(op.type(), 60) + ")";
}

NetDevice device_of(const ProtoMessage* of_net, const ProtoMessage& op) {
  const ProtoMessage* option = find_message(op, op_field::kDevice);
  if (option == nullptr) option = of_net;
  if (option == nullptr) return {};
  const auto type = static_cast<std::int32_t>(find_number(*option, device_field::kType).value_or(0));
  const auto id = static_cast<std::int32_t>(find_number(*option, device_field::kId).value_or(0));
  return type == 0 ? NetDevice{} : NetDevice{type, id};
}

std::string shown_device(NetDevice device) {
  if (device.type == 0) return "cpu";
  if (device.type == 1) return "cuda:" + std::to_string(device.id);
  return "device " + std::to_string(device.type) + ":" + std::to_string(device.id);
}

bool may_hold_net(std::string_view argument) { return argument.ends_with("step_net"); }

Error nested_too_deep(std::string place) {
  return Error{ErrorCode::over_limit,
               "nets are nested more than " + std::to_string(limits::kMaxBodyNesting) + " deep (kMaxBodyNesting)",
               std::move(place)};
}

Result<std::vector<NestedNet>> nested_nets(const OpView& op, std::size_t at, int depth) {
  std::vector<NestedNet> nets;
  for (const ProtoMessage* one : op.arguments()) {
    const std::string name(find_text(*one, argument_field::kName).value_or(""));
    std::vector<const ProtoMessage*> messages = messages_of(*one, argument_field::kNet);
    for (const ProtoMessage* more : messages_of(*one, argument_field::kNets)) messages.push_back(more);
    for (const ProtoMessage* net : messages) nets.push_back({name, *net});
    const std::optional<std::string_view> text = find_text(*one, argument_field::kText);
    const bool has_text = may_hold_net(name) && text && !text->empty();
    if (depth >= limits::kMaxBodyNesting && (has_text || !nets.empty())) return nested_too_deep(shown_op(op, at));
    if (!has_text) continue;
    const std::string place = shown_op(op, at) + ", argument " + quoted(name, 60);
    if (!messages.empty()) {
      return Error{ErrorCode::invalid, "the net is there twice, as a message and as a text; remove one of them", place};
    }
    Result<NetFile> net = read_net(*text);
    if (!net) {
      return Error{net.error().code, "the text is not a NetDef: " + net.error().message,
                   place + (net.error().place.empty() ? "" : ", " + net.error().place)};
    }
    nets.push_back({name, std::move(net->net)});
  }
  return nets;
}

}  // namespace lowtide::netdef_internal
