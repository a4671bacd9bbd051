// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/work_text.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

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

std::string hash_text(const Graph& body) {
  char text[32];
  std::snprintf(text, sizeof text, "graph %016llx", static_cast<unsigned long long>(hash_of(print_graph(body))));
  return text;
}

std::string attributes_text(const Node& node) {
  std::map<std::string_view, std::string> values;
  for (const Attribute& attribute : node.attributes) {
    values.emplace(attribute.name, graph_internal::print_attribute_value(attribute.value));
  }
  for (const Body& body : node.bodies) values.emplace(body.name, hash_text(*body.graph));
  std::string out;
  for (const auto& [name, value] : values) out += (out.empty() ? "" : ", ") + std::string(name) + " = " + value;
  return out.empty() ? out : " {" + out + "}";
}

std::string types_text(const Graph& graph, const std::vector<std::optional<TensorId>>& tensors) {
  std::string out = "(";
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    if (at > 0) out += ", ";
    if (!tensors[at]) {
      out += "_";
      continue;
    }
    const Tensor& tensor = graph.tensor(*tensors[at]);
    out += print_tensor_type(tensor.dtype, tensor.shape);
    const std::vector<std::int64_t>* known = graph.known_integers(*tensors[at]);
    if (known != nullptr) out += " = " + graph_internal::print_known_integers(*known);
  }
  return out + ")";
}

}  // namespace

std::string work_text(const Graph& graph, NodeId node) {
  const Node& of = graph.node(node);
  return full_name(graph.op(node)) + attributes_text(of) + " " + types_text(graph, of.inputs) + " -> " +
         types_text(graph, of.outputs);
}

}  // namespace lowtide
