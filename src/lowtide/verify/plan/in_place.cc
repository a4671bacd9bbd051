// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/plan/in_place.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "lowtide/graph/epilogue.h"

namespace lowtide::verify_internal {
namespace {

std::span<const std::int64_t> without_leading_ones(const Shape& shape) {
  std::span<const std::int64_t> extents = shape.extents();
  while (!extents.empty() && extents.front() == 1) extents = extents.subspan(1);
  return extents;
}

bool have_same_extents(const Shape& a, const Shape& b) {
  const auto left = without_leading_ones(a);
  const auto right = without_leading_ones(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

// Whether `other`, an operand of the same node, may have an extent above 1 where `input` has 1 at run time.
bool may_repeat(const Shape& input, const Shape& other) {
  for (int from_end = 1; from_end <= input.rank(); ++from_end) {
    const bool is_bound = input.is_at_most(input.rank() - from_end);
    if (is_bound && from_end <= other.rank() && other[other.rank() - from_end] > 1) return true;
  }
  return false;
}

}  // namespace

std::string in_place_obstacle(const Graph& graph, NodeId id, TensorId input, TensorId output) {
  const Node& node = graph.node(id);
  const InPlaceKind rule = graph.op(id).traits.in_place;
  if (rule == InPlaceKind::none) return "the operator never works in place";
  if (node.outputs.empty() || node.outputs[0] != output) return "only its first output may take an operand's bytes";
  bool is_input = false;
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    if (node.inputs[at] != input) continue;
    is_input = true;
    if (at > 0 && rule == InPlaceKind::first_input) return "the operator overwrites its first operand only";
    if (at < kProductOperands && rule == InPlaceKind::epilogue) return "the product reads this operand to its end";
  }
  if (!is_input) return "its bodies read this operand";
  const Tensor& source = graph.tensor(input);
  const Tensor& result = graph.tensor(output);
  if (bits_of(source.dtype) != bits_of(result.dtype)) return "the elements have different sizes";
  const bool needs_equal_shapes = rule == InPlaceKind::first_input || rule == InPlaceKind::epilogue;
  if (needs_equal_shapes) return source.shape == result.shape ? "" : "the shapes differ";
  if (!have_same_extents(source.shape, result.shape)) return "the shapes differ";
  for (const std::optional<TensorId>& other : node.inputs) {
    if (other && *other != input && may_repeat(source.shape, graph.tensor(*other).shape)) {
      return "an extent that is only an upper bound may be 1, and then its elements are needed again";
    }
  }
  return {};
}

}  // namespace lowtide::verify_internal
