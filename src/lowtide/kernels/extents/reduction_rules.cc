// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {
namespace {

// Which axes a reduction combines.
struct ReducedAxes {
  std::optional<std::vector<bool>> flags;  // nullopt: only a run knows them
  bool is_valid = true;
};

ReducedAxes reduced_axes_of(const NodeFacts& facts, std::size_t rank) {
  std::vector<std::int64_t> axes;
  if (facts.has(1)) {
    const std::optional<std::vector<std::int64_t>> given = facts.integers(1);
    if (!given) return {};
    axes = *given;
  } else if (const auto* listed = integers_attribute(facts.node(), "axes")) {
    axes = *listed;
  }
  const bool is_all = axes.empty() && integer_attribute(facts.node(), "noop_with_empty_axes", 0) == 0;
  std::vector<bool> flags(rank, is_all);
  for (std::int64_t value : axes) {
    const std::optional<std::size_t> axis = axis_of_rank(value, rank);
    if (!axis) return {std::nullopt, false};
    flags[*axis] = true;
  }
  return {std::move(flags), true};
}

KnownExtent channel_count(const KnownExtents& of) { return of.size() < 2 ? KnownExtent(1) : of[1]; }

// The first operand in [begin, end) that does not have this number of elements.
std::optional<std::size_t> other_count(const NodeFacts& facts, std::size_t begin, std::size_t end,
                                       const KnownExtent& count) {
  for (std::size_t input = begin; input < end; ++input) {
    if (facts.has(input) && !may_equal(facts.count(input), count)) return input;
  }
  return std::nullopt;
}

// Refuses a lowered node with an operand that is not f32; other nodes have rules for types of their own
// (graph/operand_types.h). `expected` is what the node gives.
Expected of_floats(const NodeFacts& facts, Expected expected) {
  for (std::size_t input = 0; input < facts.node().inputs.size(); ++input) {
    if (facts.has(input) && facts.tensor(input).dtype != DType::f32) return misfit(facts, input, "elements of f32");
  }
  expected.dtype = DType::f32;
  return expected;
}

// Scales of blocks along an axis.
bool may_be_blocks(const KnownExtents& scales, const KnownExtents& from, std::size_t axis, std::int64_t block) {
  if (block < 0 || scales.size() != from.size()) return false;
  for (std::size_t at = 0; at < from.size(); ++at) {
    const KnownExtent blocks = from[at] ? KnownExtent((*from[at] - 1) / block + 1) : std::nullopt;
    if (!may_equal(scales[at], at == axis ? blocks : from[at])) return false;
  }
  return true;
}

// The type that QuantizeLinear or DequantizeLinear gives: that of the zero point or of the scales, if no attribute
// states it.
std::optional<DType> quantized_type(const NodeFacts& facts) {
  const std::int64_t number = integer_attribute(facts.node(), "output_dtype", 0);
  if (facts.type() == "DequantizeLinear") return number == 0 ? facts.tensor(1).dtype : dtype_of_onnx_number(number);
  if (facts.has(2)) return facts.tensor(2).dtype;
  return number == 0 ? DType::u8 : dtype_of_onnx_number(number);
}

}  // namespace

Expected expect_reduce(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const ReducedAxes axes = reduced_axes_of(facts, from.size());
  const bool keeps_axes = integer_attribute(facts.node(), "keepdims", 1) != 0;
  if (!axes.is_valid) return misfit(facts, 0, "the axes of the node");
  if (!axes.flags) return keeps_axes ? expect_rank(from.size()) : expect_anything();
  KnownExtents to;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (!(*axes.flags)[axis]) {
      to.push_back(from[axis]);
    } else if (keeps_axes) {
      to.emplace_back(1);
    }
  }
  return expect(std::move(to));
}

Expected expect_loss(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  if (from.size() < 2) return misfit(facts, 0, "batches and classes");
  KnownExtents labels = from;
  labels.erase(labels.begin() + 1);
  if (!may_equal(facts.extents(1), labels)) return misfit(facts, 1, "the extents " + to_text(labels));
  if (facts.has(2) && !may_equal(facts.count(2), from[1])) return misfit(facts, 2, "one element per class");
  const bool is_reduced = text_attribute(facts.node(), "reduction", "mean") != "none";
  return expect(is_reduced ? KnownExtents() : labels, from);
}

Expected expect_batch_norm(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  // In blocks, the attribute says how many channels there are.
  const auto* of_blocks = find_attribute<std::int64_t>(facts.node().attributes, "channels");
  const KnownExtent channels = of_blocks != nullptr ? KnownExtent(*of_blocks) : channel_count(from);
  if (const auto other = other_count(facts, 1, 5, channels)) return misfit(facts, *other, "one element per channel");
  Expected expected = expect(from, KnownExtents{channels});
  for (std::size_t at = 2; at < facts.node().outputs.size(); ++at)
    expected.results.emplace_back(KnownExtents{channels});
  return of_blocks == nullptr ? expected : of_floats(facts, std::move(expected));
}

Expected expect_group_norm(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  if (from.size() < 2) return misfit(facts, 0, "batches and channels");
  const std::int64_t given = integer_attribute(facts.node(), "num_groups", 0);
  const KnownExtent groups = given == 0 ? from[1] : KnownExtent(given);
  const bool is_whole = given >= 0 && (given == 0 || !from[1] || *from[1] % given == 0);
  if (!is_whole) return misfit(facts, 0, "a multiple of " + std::to_string(given) + " channels");
  // One element per channel, or per group in older opsets.
  const bool is_per_channel = may_equal(facts.count(1), from[1]);
  const auto other = other_count(facts, 1, 3, is_per_channel ? from[1] : groups);
  if (other && facts.count(1)) return misfit(facts, *other, "one element per channel");
  return expect(from);
}

Expected expect_layer_norm(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const std::optional<std::size_t> axis = axis_of_rank(integer_attribute(facts.node(), "axis", -1), from.size());
  if (!axis) return misfit(facts, 0, "the axis of the node");
  for (std::size_t input : {1, 2}) {
    if (facts.has(input) && !may_broadcast_to(facts.extents(input), from))
      return misfit(facts, input, "extents that are broadcast to " + to_text(from));
  }
  KnownExtents rows = from;
  std::fill(rows.begin() + static_cast<std::ptrdiff_t>(*axis), rows.end(), 1);
  Expected expected = expect(from, rows);
  expected.results.emplace_back(std::move(rows));
  return expected;
}

Expected expect_quantize(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const KnownExtents scales = facts.extents(1);
  const KnownExtent count = product_of(scales);
  if (facts.has(2) && !may_equal(facts.count(2), count)) return misfit(facts, 2, "one element per scale");
  const std::int64_t block = integer_attribute(facts.node(), "block_size", 0);
  Expected expected = expect(from);
  expected.dtype = quantized_type(facts);
  if (!count || (*count == 1 && block == 0)) return expected;
  const std::optional<std::size_t> axis = axis_of_rank(integer_attribute(facts.node(), "axis", 1), from.size());
  if (!axis) return misfit(facts, 0, "the axis of the scales");
  if (block == 0 && (scales.size() != 1 || !may_equal(scales[0], from[*axis])))
    return misfit(facts, 1, "one element, or one per entry of the axis");
  if (block != 0 && !may_be_blocks(scales, from, *axis, block)) return misfit(facts, 1, "one element per block");
  return expected;
}

Expected expect_dynamic_quantize(const NodeFacts& facts) {
  Expected expected = expect(facts.extents(0), KnownExtents());
  expected.results.emplace_back(KnownExtents());
  return expected;
}

Expected expect_scaled_weights(const NodeFacts& facts) {
  const KnownExtents weights = facts.extents(0);
  if (weights.empty()) return misfit(facts, 0, "channels");
  if (const auto other = other_count(facts, 1, 3, weights[0])) return misfit(facts, *other, "one element per channel");
  return of_floats(facts, expect(weights));
}

Expected expect_scaled_bias(const NodeFacts& facts) {
  const KnownExtent channels = facts.count(0);
  if (const auto other = other_count(facts, 1, 5, channels)) return misfit(facts, *other, "one element per channel");
  return of_floats(facts, expect(KnownExtents{channels}));
}

}  // namespace lowtide::kernels_internal
