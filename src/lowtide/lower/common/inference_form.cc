// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/common/inference_form.h"

#include <algorithm>
#include <string_view>

#include "lowtide/graph/lowered.h"

namespace lowtide::lower_internal {
namespace {

std::int64_t integer_or(const Node& node, std::string_view name, std::int64_t otherwise) {
  const auto* value = find_attribute<std::int64_t>(node.attributes, name);
  return value == nullptr ? otherwise : *value;
}

bool is_known_zero(const Graph& graph, const Node& node, std::size_t at) {
  if (node.inputs.size() <= at || !node.inputs[at]) return true;  // the default
  const std::vector<std::int64_t>* content = graph.known_integers(*node.inputs[at]);
  return content != nullptr && *content == std::vector<std::int64_t>{0};
}

}  // namespace

bool is_in_inference_form(const Graph& graph, NodeId id) {
  const std::string_view type = graph.op(id).type;
  const Node& node = graph.node(id);
  if (type != "Dropout" && type != "BatchNormalization") return true;
  // Until opset 6, an attribute says which form it is.
  constexpr std::int64_t kNewest = 1000;
  if (integer_or(node, kSinceAttribute, kNewest) < 7 && integer_or(node, "is_test", 0) == 0) return false;
  if (type == "Dropout") return is_known_zero(graph, node, 2);
  const auto is_omitted = [](const std::optional<TensorId>& output) { return !output.has_value(); };
  return integer_or(node, "training_mode", 0) == 0 && integer_or(node, "spatial", 1) == 1 &&
         std::all_of(node.outputs.begin() + 1, node.outputs.end(), is_omitted);
}

}  // namespace lowtide::lower_internal
