// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/rules.h"

namespace lowtide::graph_program_internal {
namespace {

// The statistics are constants, so that one factor and one addend per channel are enough.
Result<NodeCalls> batch_normalization(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1, 2, 3, 4}));
  LOWTIDE_RETURN_IF_ERROR(node.check_results(1));
  if (node.integer("training_mode", 0) != 0) return missing("no kernel of C trains");
  std::array<std::vector<float>, 4> lists;
  for (std::size_t at = 0; at < lists.size(); ++at) {
    std::optional<std::vector<float>> content = node.constant_floats(at + 1);
    if (!content || content->size() != node.constant_floats(1)->size()) {
      return missing("scale, bias, mean and variance are not constants of one length");
    }
    lists[at] = *std::move(content);
  }
  auto& [scale, bias, mean, variance] = lists;
  const float epsilon = node.number("epsilon", 1e-5);
  for (std::size_t at = 0; at < scale.size(); ++at) {
    scale[at] /= std::sqrt(variance[at] + epsilon);
    bias[at] -= mean[at] * scale[at];
  }
  const Extents& shape = node.input_shape(0);
  if (shape.size() < 2 || shape[1] != static_cast<std::int64_t>(scale.size())) return missing("axis 1 has no channels");
  NodeCalls calls;
  const ConstantAt factors = calls.add("factors of " + node.output(0).name, scale);
  const ConstantAt addends = calls.add("addends of " + node.output(0).name, bias);
  Parameters parameters;
  parameters.add("batches", shape[0]).add("channels", shape[1]).add("plane", product(shape, 2, shape.size()));
  calls.calls.push_back({"scale_f32", parameters.take(), {InputAt{0}, factors, addends, OutputAt{0}}});
  return calls;
}

// Rows with one mean and variance, and the factors of their elements (lowtide_normalize_f32).
struct Rows {
  std::int64_t rows = 1;
  std::int64_t row = 1;
  std::int64_t factors = 1;
  std::int64_t repeats = 1;
  bool keeps_mean = false;
};

Result<NodeCalls> normalized(const NodeFacts& node, const Rows& rows) {
  for (std::size_t at = 1; at < 3; ++at) {
    if (node.has_input(at) && product(node.input_shape(at)) != rows.factors) {
      return missing("scale or bias does not have " + std::to_string(rows.factors) + " elements");
    }
  }
  Parameters parameters;
  parameters.add("rows", rows.rows)
      .add("row", rows.row)
      .add("factors", rows.factors)
      .add("repeats", rows.repeats)
      .add("keeps_mean", rows.keeps_mean ? 1 : 0)
      .add_float("epsilon", node.number("epsilon", 1e-5));
  return NodeCalls{{{"normalize_f32",
                     parameters.take(),
                     {InputAt{0}, input_or_null(node, 1), input_or_null(node, 2), OutputAt{0}}}}};
}

Result<NodeCalls> instance_normalization(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1, 2}));
  const Extents& shape = node.input_shape(0);
  if (shape.size() < 3) return missing("its channels have no plane");
  const std::int64_t plane = product(shape, 2, shape.size());
  return normalized(node, {.rows = shape[0] * shape[1], .row = plane, .factors = shape[1], .repeats = plane});
}

Result<NodeCalls> layer_normalization(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1, 2}));
  LOWTIDE_RETURN_IF_ERROR(node.check_results(1));
  const Extents& shape = node.input_shape(0);
  LOWTIDE_TRY(const std::size_t axis, axis_of(node.integer("axis", -1), shape.size()));
  const std::int64_t row = product(shape, axis, shape.size());
  return normalized(
      node,
      {.rows = product(shape, 0, axis), .row = row, .factors = row, .keeps_mean = node.type() == "RMSNormalization"});
}

Result<NodeCalls> group_normalization(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1, 2}));
  const Extents& shape = node.input_shape(0);
  const std::int64_t groups = node.integer("num_groups", 1);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) return missing("its channels have no such groups");
  const std::int64_t plane = product(shape, 2, shape.size());
  const std::int64_t row = shape[1] / groups * plane;
  const bool is_per_group = node.is_before(21);
  return normalized(node, {.rows = shape[0] * groups,
                           .row = row,
                           .factors = is_per_group ? groups : shape[1],
                           .repeats = is_per_group ? row : plane});
}

// The last axes are one before opset 13.
Result<NodeCalls> softmax(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  const Extents& shape = node.input_shape(0);
  const bool is_old = node.is_before(13);
  LOWTIDE_TRY(const std::size_t axis, axis_of(node.integer("axis", is_old ? 1 : -1), shape.size()));
  const std::size_t end = is_old ? shape.size() : axis + 1;
  Parameters parameters;
  parameters.add("outer", product(shape, 0, axis))
      .add("axis", product(shape, axis, end))
      .add("inner", product(shape, end, shape.size()));
  return NodeCalls{
      {{node.type() == "Softmax" ? "softmax_f32" : "log_softmax_f32", parameters.take(), {InputAt{0}, OutputAt{0}}}}};
}

constexpr auto kNormalizationRules = std::to_array<Rule>({
    {"BatchNormalization", &batch_normalization},
    {"GroupNormalization", &group_normalization},
    {"InstanceNormalization", &instance_normalization},
    {"LayerNormalization", &layer_normalization},
    {"LogSoftmax", &softmax},
    {"RMSNormalization", &layer_normalization},
    {"Softmax", &softmax},
});

}  // namespace

std::span<const Rule> normalization_rules() { return kNormalizationRules; }

}  // namespace lowtide::graph_program_internal
