// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/graph/chain.h"
#include "lowtide/kernels/plain/chains/fused_patterns.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"

namespace lowtide::kernels_internal {

// The nodes of the program of a chain or of an epilogue, as functions that compute rows, one after another.

inline constexpr std::int64_t kFusedBlock = 256;  // the most elements that a node computes before the next one begins

// Where a node of the program reads an operand.
struct FusedSource {
  enum class From : std::uint8_t { nowhere, operand, slot } from = From::nowhere;
  std::size_t index = 0;  // of the input of the program or of the slot
};

// A node, or a pattern of several: then the first sources are its value and its other value, and the rest are its
// numbers.
struct FusedStep {
  ElementwiseStep step;
  FusedPattern::Kind pattern = FusedPattern::Kind::none;
  static constexpr std::size_t kValues = 2;
  std::array<FusedSource, kValues + FusedPattern::kMostNumbers> sources;
  std::array<float, FusedPattern::kMostNumbers> numbers{};  // of a pattern, where they have no source
  std::optional<std::size_t> slot;  // that gets the result; nullopt: it is the result of the program
};
using FusedSteps = std::vector<FusedStep>;

// The steps of a program with one output. Empty if some node has no function (elementwise_row.h).
[[nodiscard]] FusedSteps fused_steps(const Graph& program);

// Blocks of results between the nodes. A slot is filled before it is read.
struct alignas(64) FusedSlots {
  static constexpr std::size_t kBytes = kFusedBlock * sizeof(float);
  FusedSlots() {}  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<std::byte, kMostFusedNodes * kBytes> bytes;
  [[nodiscard]] std::byte* at(std::size_t slot) { return bytes.data() + slot * kBytes; }
};

// The elements of all inputs of the program and of its result along one row.
struct FusedRow {
  struct Place {
    std::byte* bytes = nullptr;
    std::int64_t step = 0;  // in elements
    std::int64_t bytes_per_element = 0;
    [[nodiscard]] std::byte* element(std::int64_t at) const { return bytes + at * step * bytes_per_element; }
  };
  std::array<Place, kMostChainOperands> operands;
  Place result;
};

// Computes the elements [begin, end) of a row, at most kFusedBlock. All elements of operands are read before the result
// is written, so the result may have the place of an operand with step 1. Errors: division_by_zero.
[[nodiscard]] RunCode run_fused(const FusedSteps& steps, const FusedRow& row, Interval<std::int64_t> elements,
                                FusedSlots& slots);

}  // namespace lowtide::kernels_internal
