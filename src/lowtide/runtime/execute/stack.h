// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/kernels/kernel.h"
#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

// A tensor that has one slice per iteration of a loop:
//
//   whole [2,3,4], axis 1: slice i of [2,4] has the elements [*, i, *]
class Stack {
 public:
  // `whole` without bytes is an omitted result.
  Stack(const BoundTensor& whole, const BoundTensor& slice, SliceAxis axis);

  // Copies slice `at` of the whole tensor to the slice. Requires: at < length().
  [[nodiscard]] RunStatus take(std::int64_t at);
  // The extent of the whole tensor along the axis, in this run.
  [[nodiscard]] std::int64_t length() const { return whole_.extents[axis_.axis]; }

  // Begins a result with this many slices; nullopt if the number is not known yet, and the axis is 0.
  void begin(std::optional<std::int64_t> length);
  // Copies the slice to slice `at` of the whole tensor. Returns bad_extents if it has other extents than slice 0, or
  // size_exceeds_plan.
  [[nodiscard]] RunStatus put(std::int64_t at);
  // Sets the extents of the result. If there was no slice, extents of a slice that depend on data are 0.
  [[nodiscard]] RunStatus end(std::int64_t slices);

 private:
  // Calls copy(address in the whole tensor, address in the slice, bytes) for each contiguous range of slice `at`.
  template <typename Copy>
  void for_each_range(std::int64_t at, std::int64_t length, Copy copy) const;

  BoundTensor whole_;
  BoundTensor slice_;
  SliceAxis axis_;
  std::optional<std::int64_t> length_;
  std::vector<std::int64_t> slice_extents_;  // of slice 0
  std::vector<std::int64_t> extents_;        // of the whole tensor
};

}  // namespace lowtide::runtime_internal
