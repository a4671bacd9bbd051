// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/plain/chains/fused_steps.h"

namespace lowtide::kernels_internal {

// The epilogue of a product in blocks of channels (graph/epilogue.h), which runs on a few places of the result at a
// time.
struct BlockEpilogue {
  // Which elements of an operand belong to a place of the result.
  enum class Reach : std::uint8_t {
    one,       // its only element
    whole,     // those at the same place: it has the shape of the result
    channels,  // those of the same channels, for all images: it has one place
  };
  FusedSteps steps;
  std::vector<Reach> operands;  // without the result of the product
  // Whether a tile computes it without the steps: an Add of an operand with the shape of the result, a Relu or Clip, or
  // both in this order. The bounds of a Clip are operands.
  bool is_in_tile = false;
  std::optional<std::size_t> addend;
  bool is_relu = false;
  // Whether one pattern of numbers is all that it computes, such as a HardSwish that is written out.
  bool is_pattern = false;
  // A bound of the Clip: the operand that has it, or a number.
  struct Bound {
    std::optional<std::size_t> operand;
    float value = 0;
  };
  Bound low{.operand = {}, .value = -std::numeric_limits<float>::infinity()};
  Bound high{.operand = {}, .value = std::numeric_limits<float>::infinity()};

  [[nodiscard]] bool has_channels() const;
};

// The epilogue for a program (graph/epilogue.h) with a result in blocks. nullopt: some tensor is not f32, an operand
// has another shape, or a node has no function.
[[nodiscard]] std::optional<BlockEpilogue> block_epilogue(const Graph& program);

// What a Relu or a Clip permits.
struct BlockBounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

// An epilogue, or none, with its operands in the memory of one session. What it has beside `operands` is read before a
// run, and is for a kernel that computes it in registers.
struct BoundEpilogue {
  // `reads` are those of the product. Requires: `epilogue` outlives it.
  BoundEpilogue(const std::optional<BlockEpilogue>& epilogue, std::span<const BoundTensor> reads);
  // Whether a tile computes its results itself: the epilogue, if there is one, is no more than an addend and bounds,
  // and the lanes without a channel stay zero.
  [[nodiscard]] bool is_in_tile(bool has_full_blocks) const { return !has_program && (keeps_zero || has_full_blocks); }

  std::span<const BoundTensor> operands;
  bool has_program = false;  // it is more than a tile computes itself
  bool keeps_zero = true;    // the bounds leave zeros as they are
  BlockBounds bounds;
  const float* addend = nullptr;
  // BlockEpilogue::is_pattern: what run_pattern() computes for all results, with the numbers in place.
  FusedPattern::Kind pattern = FusedPattern::Kind::none;
  std::array<float, FusedPattern::kMostNumbers> numbers{};
};

// Neighboring places of one block of channels, and the products there.
struct BlockRow {
  const float* sums = nullptr;
  std::int64_t first = 0;         // the index of the first element in the result
  std::int64_t count = 0;         // elements, at most kFusedBlock
  std::int64_t channels = 0;      // the index of its first channel, among those of an image with padding
  std::int64_t lanes = 0;         // of a block
  std::int64_t unused_lanes = 0;  // that have no channel, and become zero
};

// Computes the elements of a row of the result. `bound` is the epilogue in the memory of the run.
[[nodiscard]] RunCode run_epilogue(const BlockEpilogue& epilogue, const BoundEpilogue& bound, const BlockRow& row,
                                   float* result, FusedSlots& slots);

}  // namespace lowtide::kernels_internal
