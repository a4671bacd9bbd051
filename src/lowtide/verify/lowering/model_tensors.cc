// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/model_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <variant>
#include <vector>

#include "lowtide/base/half.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/lowering/conversions.h"

namespace lowtide::verify_internal {
namespace {

bool is_model_operator(const Operator& op, std::string_view type) {
  return (op.domain.empty() || op.domain == "ai.onnx") && op.type == type;
}

// Whether the table says that a Dropout keeps every element and multiplies by 1 / (1 - 0).
bool keeps_all(const Graph& graph, const Node& dropout, const ConstantTable* table) {
  if (table == nullptr || dropout.inputs.size() < 2 || !dropout.inputs[1]) return false;
  const Tensor& ratio = graph.tensor(*dropout.inputs[1]);
  if (ratio.role != Role::constant || !ratio.constant || ratio.constant->index() >= table->sources.size()) return false;
  const auto* given = std::get_if<ConstantSource::Inline>(&table->sources[*ratio.constant].where);
  if (given == nullptr || given->bytes.empty()) return false;
  std::size_t zeros = 0;
  while (zeros < given->bytes.size() && std::to_integer<int>(given->bytes[zeros]) == 0) ++zeros;
  return zeros == given->bytes.size();
}

// Whether all elements of an operand are known to be `wanted`. An omitted one has none.
bool holds_only(const Graph& graph, const Node& node, std::size_t at, std::int64_t wanted) {
  const bool is_there = node.inputs.size() > at && node.inputs[at].has_value();
  if (!is_there) return true;
  const std::vector<std::int64_t>* content = graph.known_integers(*node.inputs[at]);
  return content != nullptr &&
         std::count(content->begin(), content->end(), wanted) == static_cast<std::ptrdiff_t>(content->size());
}

// Whether the result of a node, which has known extents equal to those of operand 0, has its elements in their order.
// The file alone may state extents, so the other operands must say the same.
bool moves_nothing(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (std::size_t at = 1; at < node.inputs.size(); ++at) {
    // Behind the pads, a Pad has its value and its axes.
    const bool decides = at == 1 || !is_model_operator(graph.op(id), "Pad");
    if (decides && node.inputs[at] && graph.known_integers(*node.inputs[at]) == nullptr) return false;
  }
  const auto is = [&](std::string_view type) { return is_model_operator(graph.op(id), type); };
  if (is("Concat")) return node.inputs.size() == 1;
  if (is("Expand") || is("Tile")) return true;
  if (is("Slice")) return holds_only(graph, node, 4, 1);
  if (!is("Pad")) return false;
  if (node.inputs.size() > 1 && node.inputs[1]) return holds_only(graph, node, 1, 0);
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name != "pads") continue;
    const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute.value);
    return list != nullptr && std::count(list->begin(), list->end(), 0) == static_cast<std::ptrdiff_t>(list->size());
  }
  return false;
}

bool is_a_copy(const Graph& graph, NodeId id, const ConstantTable* table) {
  const Operator& op = graph.op(id);
  const Node& node = graph.node(id);
  const bool copies =
      is_model_operator(op, "Identity") || is_model_operator(op, "Cast") ||
      (is_model_operator(op, "Dropout") && (!may_be_training(graph, id) || keeps_all(graph, node, table)));
  const bool may_copy = copies || is_model_operator(op, "Concat") || is_model_operator(op, "Expand") ||
                        is_model_operator(op, "Pad") || is_model_operator(op, "Slice") || is_model_operator(op, "Tile");
  return may_copy && !node.inputs.empty() && node.inputs[0] && !node.outputs.empty() && node.outputs[0] &&
         graph.tensor(*node.inputs[0]).dtype == graph.tensor(*node.outputs[0]).dtype &&
         graph.tensor(*node.inputs[0]).shape == graph.tensor(*node.outputs[0]).shape &&
         (copies || (!graph.tensor(*node.inputs[0]).shape.has_upper_bounds() && moves_nothing(graph, id)));
}

bool are_same_numbers(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool are_equal(const Attribute& a, const Attribute& b) {
  if (a.name != b.name || a.value.index() != b.value.index()) return false;
  if (const auto* number = std::get_if<double>(&a.value)) return are_same_numbers(*number, std::get<double>(b.value));
  if (const auto* numbers = std::get_if<std::vector<double>>(&a.value)) {
    return std::ranges::equal(*numbers, std::get<std::vector<double>>(b.value), are_same_numbers);
  }
  return a.value == b.value;
}

}  // namespace

bool have_same_attributes(const Node& a, const Node& b) {
  return std::ranges::equal(a.attributes, b.attributes, are_equal);
}

double number_or(const Node& node, std::string_view name, double otherwise) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name != name) continue;
    if (const auto* real = std::get_if<double>(&attribute.value)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) return static_cast<double>(*integer);
  }
  return otherwise;
}

bool reads_statistics(const Node& norm) {
  const bool has_one_result = std::count_if(norm.outputs.begin(), norm.outputs.end(),
                                            [](const auto& output) { return output.has_value(); }) == 1;
  const bool is_for_training = number_or(norm, kSinceAttribute, 14) < 7 && number_or(norm, "is_test", 0) == 0;
  return has_one_result && norm.outputs[0] && !is_for_training && number_or(norm, "training_mode", 0) == 0 &&
         number_or(norm, "spatial", 1) == 1;
}

bool is_reorder(const Operator& op) { return op.domain == kOwnDomain && op.type == kReorderType; }

ModelTensors::ModelTensors(const Graph& model, const ConstantTable* table)
    : model_(model), content_(model.tensors().size()) {
  for (TensorId id : all_ids<TensorId>(model.tensors().size())) {
    by_name_.emplace(model.tensor(id).name, id);
    content_[id] = id;
  }
  for (NodeId id : all_ids<NodeId>(model.nodes().size())) {
    if (is_a_copy(model, id, table)) content_[*model.node(id).outputs[0]] = content_[*model.node(id).inputs[0]];
    if (const auto same = same_integers(model, id, content_)) content_[*model.node(id).outputs[0]] = content_[*same];
  }
}

void ModelTensors::add_reordered(const Graph& graph) {
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    if (!is_reorder(graph.op(id)) || node.inputs.empty() || !node.inputs[0] || node.outputs.empty() || !node.outputs[0])
      continue;
    const std::optional<TensorId> read = find(graph, *node.inputs[0]);
    const std::optional<TensorId> written = find(graph, *node.outputs[0]);
    if (read && !written) by_name_.emplace(graph.tensor(*node.outputs[0]).name, *read);
    if (written && !read) by_name_.emplace(graph.tensor(*node.inputs[0]).name, *written);
  }
}

std::optional<TensorId> ModelTensors::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<float> ModelTensors::number(TensorId id, const ConstantTable* table) const {
  const Tensor& constant = model_.tensor(content_of(id));
  if (table == nullptr || !constant.constant || constant.dtype != DType::f32) return std::nullopt;
  const ConstantSource& source = table->sources[*constant.constant];
  const auto* given = std::get_if<ConstantSource::Inline>(&source.where);
  float value = 0;
  Half half{};
  if (given != nullptr && source.dtype == DType::f16 && given->bytes.size() == sizeof half) {
    std::memcpy(&half, given->bytes.data(), sizeof half);
    return to_float(half);
  }
  if (given == nullptr || given->bytes.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, given->bytes.data(), sizeof value);
  return value;
}

bool ModelTensors::reads_same(std::optional<TensorId> in_model, const Graph& graph,
                              std::optional<TensorId> operand) const {
  if (!in_model || !operand) return in_model.has_value() == operand.has_value();
  const std::optional<TensorId> found = find(graph, *operand);
  return found && have_same_content(*found, *in_model);
}

}  // namespace lowtide::verify_internal
