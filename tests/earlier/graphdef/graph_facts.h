// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/utf8.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/text.h"

namespace lowtide::testing {

struct ShowValue {
  std::string operator()(std::int64_t one) const { return std::to_string(one); }
  std::string operator()(double one) const {
    return std::isnan(one) ? "nan" : std::to_string(static_cast<float>(one)) + "f";
  }
  std::string operator()(const std::string& one) const { return "'" + one + "'"; }
  std::string operator()(const OpaqueAttribute& one) const { return "'" + one.description + "'"; }
  template <typename Element>
  std::string operator()(const std::vector<Element>& all) const {
    std::string text = "[";
    for (const Element& one : all) text += (*this)(one) + ",";
    return text + "]";
  }
};

// Reals as TensorFlow and ONNX have them, and descriptions as texts. Empty lists of all types are the same.
inline std::string shown_value(const AttributeValue& value) { return std::visit(ShowValue{}, value); }

// What a graph says, without ids and without the order of its nodes: one line per tensor and per node, sorted, and then
// the outputs. The first attribute of a name counts, if the name is UTF-8. Bodies, state updates and the content of
// results are not in it.
inline std::vector<std::string> facts_of(const Graph& graph) {
  const auto name = [&](const std::optional<TensorId>& id) { return id ? "'" + graph.tensor(*id).name + "'" : "_"; };
  std::vector<std::string> lines;
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    std::string line = "tensor " + name(id) + " " + std::string(to_string(tensor.role)) + " " +
                       print_tensor_type(tensor.dtype, tensor.shape);
    const bool has_content =
        tensor.role == Role::constant && (tensor.dtype == DType::i32 || tensor.dtype == DType::i64);
    const std::vector<std::int64_t>* content = has_content ? graph.known_integers(id) : nullptr;
    const auto fits = [&](std::int64_t one) {
      return tensor.dtype == DType::i64 || one == static_cast<std::int32_t>(one);
    };
    if (content != nullptr && std::all_of(content->begin(), content->end(), fits)) line += " " + ShowValue{}(*content);
    lines.push_back(line);
  }
  const auto shown = [&](NodeId id) {
    const Node& node = graph.node(id);
    std::string line = "node '" + node.name + "' " + graph.op(id).domain + "::" + graph.op(id).type + " (";
    for (const auto& input : node.inputs) line += name(input) + ",";
    line += ") (";
    for (const auto& output : node.outputs) line += name(output) + ",";
    std::vector<std::string> attributes;
    std::set<std::string> known;
    for (const Attribute& attribute : node.attributes) {
      if (!is_utf8(attribute.name) || !known.insert(attribute.name).second) continue;
      attributes.push_back(attribute.name + "=" + shown_value(attribute.value));
    }
    std::sort(attributes.begin(), attributes.end());
    for (const std::string& attribute : attributes) line += " " + attribute;
    return line;
  };
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    std::vector<std::string> waits;
    const std::vector<NodeId>& befores = graph.node(id).control_inputs;
    for (NodeId before : std::set<NodeId>(befores.begin(), befores.end())) waits.push_back(shown(before));
    std::sort(waits.begin(), waits.end());
    std::string line = shown(id) + " after";
    for (const std::string& wait : waits) line += " [" + wait + "]";
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  for (TensorId id : graph.outputs()) lines.push_back("output " + name(id));
  return lines;
}

}  // namespace lowtide::testing
