// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/resampling/taps.h"
#include "lowtide/kernels/team.h"

namespace lowtide::kernels_internal {

struct PlannedAxis {
  ResizeAxis axis;
  Taps taps;                // without begins if the axis stays as it is
  std::int64_t stride = 1;  // in the operand
  [[nodiscard]] bool is_kept() const { return taps.begins == nullptr; }
  // The first element for a position of the result, or -1.
  [[nodiscard]] std::int64_t begin(std::int64_t at) const { return is_kept() ? at : taps.begins[at]; }
};
struct ResizePlan {
  int rank = 0;
  std::array<PlannedAxis, kMostAxes> axes;
  [[nodiscard]] PlannedAxis& operator[](int axis) { return axes[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] const PlannedAxis& operator[](int axis) const { return axes[static_cast<std::size_t>(axis)]; }
};

// The rows of a result that is resized, on several threads. A result has the same bits for each number of threads.
struct ResizeRows {
  const ResizePlan& plan;    // rank > 0, and no extent of the result is 0
  float outside = 0;         // of results whose place is outside of the region; of f32 alone
  float* blended = nullptr;  // a row of the last axis of the operand for each share, for blend()
  int shares = 1;            // at most, of the work

  // Sums of elements of f32 with the weights of their taps, first over all axes but the last.
  void blend(const Operands& operands, Team& team) const;
  // Copies of elements of whole bytes. Requires: one tap for each axis.
  void move(const Operands& operands, Team& team) const;
};

}  // namespace lowtide::kernels_internal
