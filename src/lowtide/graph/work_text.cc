// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/work_text.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/text.h"
#include "lowtide/graph/text_values.h"

namespace lowtide {
namespace {

// Fowler, Noll, Vo: FNV-1a with 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char one : text) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3U;
  return hash;
}

std::string number_of(TensorId id) { return "%" + std::to_string(id.value()); }

std::string type_text(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  std::string out = print_tensor_type(tensor.dtype, tensor.shape);
  const std::vector<std::int64_t>* known = graph.known_integers(id);
  if (known != nullptr) out += " = " + graph_internal::print_known_integers(*known);
  return out;
}

// Each tensor that exists, as `text` says; "_" for the others.
template <typename Text>
std::string list_text(const std::vector<std::optional<TensorId>>& tensors, Text text) {
  std::string out = "(";
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    out += (at > 0 ? ", " : "") + (tensors[at] ? text(*tensors[at]) : std::string("_"));
  }
  return out + ")";
}

std::string attributes_text(const Node& node);

// A graph with numbers in place of names: its tensors without producer, its nodes and its outputs. Recursion over
// bodies only, bounded by limits::kMaxBodyNesting.
std::string content_text(const Graph& graph) {
  std::string out;
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (!graph.tensor(id).producer) out += number_of(id) + " : " + type_text(graph, id) + "; ";
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    out += list_text(node.outputs, [&](TensorId one) { return number_of(one) + " : " + type_text(graph, one); }) +
           " = " + full_name(graph.op(id)) + attributes_text(node) + list_text(node.inputs, &number_of) + "; ";
  }
  for (TensorId id : graph.outputs()) out += number_of(id) + " ";
  for (const StateUpdate& update : graph.state_updates()) {
    out += number_of(update.state) + " := " + number_of(update.next) + " ";
  }
  return out;
}

std::string hash_text(const Graph& body) {
  char text[32];
  std::snprintf(text, sizeof text, "graph %016llx", static_cast<unsigned long long>(hash_of(content_text(body))));
  return text;
}

// Programs of chains and epilogues are graphs, whose names have no meaning.
std::string value_text(const Attribute& attribute) {
  const auto* lines = std::get_if<std::vector<std::string>>(&attribute.value);
  const bool is_program = attribute.name == kProgramAttribute || attribute.name == kEpilogueAttribute;
  if (lines != nullptr && is_program) {
    if (const Result<Graph> program = chain_graph(*lines)) return "[" + content_text(*program) + "]";
  }
  return graph_internal::print_attribute_value(attribute.value);
}

std::string attributes_text(const Node& node) {
  std::map<std::string_view, std::string> values;
  for (const Attribute& attribute : node.attributes) values.emplace(attribute.name, value_text(attribute));
  for (const Body& body : node.bodies) values.emplace(body.name, hash_text(*body.graph));
  std::string out;
  for (const auto& [name, value] : values) out += (out.empty() ? "" : ", ") + std::string(name) + " = " + value;
  return out.empty() ? out : " {" + out + "}";
}

}  // namespace

std::string work_text(const Graph& graph, NodeId node) {
  const Node& of = graph.node(node);
  const auto type = [&](TensorId id) { return type_text(graph, id); };
  return full_name(graph.op(node)) + attributes_text(of) + " " + list_text(of.inputs, type) + " -> " +
         list_text(of.outputs, type);
}

}  // namespace lowtide
