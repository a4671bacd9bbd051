// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "lowtide/kernels/common/extents.h"

namespace lowtide::kernels_internal {

// Divides a result of broadcast operands into rows: runs of elements in which each operand either advances with the
// result, or repeats one element. Adjacent axes are merged where all operands allow it, so operands of equal extents
// give one row.
//
//   f32[2,3,4] + f32[3,1]:  6 rows of 4 elements; the second operand repeats an element in each row
//   f32[2,3,4] + f32[3,4]:  2 rows of 12 elements
//
// Rows of few elements would take more time than their elements. So with `joins_short_rows`, neighboring short rows
// become one if each operand repeats one element in all of them, advances through all of them, or begins again in each:
//
//   f32[1,2,49,16] * f32[1,2,1,16]:  2 rows of 784 elements; the second operand begins again every 16 elements
class BroadcastRows {
 public:
  // Requires: `extents` are those of broadcast(operands), or more axes and larger ones in front of them.
  BroadcastRows(std::span<const BoundTensor> operands, const Extents& extents, bool joins_short_rows = false);

  [[nodiscard]] std::int64_t length() const { return length_; }  // elements of a row; 0 if the result is empty
  [[nodiscard]] bool is_done() const { return is_done_; }
  void advance();  // to the next row; requires !is_done()

  // Where the elements of an operand for this row begin, in elements.
  [[nodiscard]] std::int64_t begin_in(const BoundTensor& operand) const;
  // 1 if the operand advances with the row, or 0 if it repeats one element.
  [[nodiscard]] std::int64_t step_in(const BoundTensor& operand) const { return is_whole(operand, axes_ - 1) ? 1 : 0; }
  // The elements after which the operand begins again. 0: it does not.
  [[nodiscard]] std::int64_t period_in(const BoundTensor& operand) const {
    return has_joined_ && step_in(operand) == 1 && !is_whole(operand, axes_ - 2) ? extents_[last()] : 0;
  }

  static constexpr std::int64_t kMostPeriod = 64;

 private:
  [[nodiscard]] std::size_t last() const { return static_cast<std::size_t>(axes_) - 1; }
  // Whether the operand has all elements along a merged axis, and does not repeat one.
  [[nodiscard]] bool is_whole(const BoundTensor& operand, int merged) const {
    const int axis = operand.rank - from_end_[static_cast<std::size_t>(merged)];
    return axis >= 0 && operand.extents[axis] != 1;
  }

  int axes_ = 0;  // after merging, at least 1
  std::array<std::int64_t, kMostAxes + 1> extents_{};
  std::array<int, kMostAxes + 1> from_end_{};  // an axis that the merged one contains, counted from the end: 1 is last
  std::array<std::int64_t, kMostAxes + 1> index_{};
  std::int64_t length_ = 0;
  bool has_joined_ = false;  // a row goes along the last two axes
  bool is_done_ = false;
};

}  // namespace lowtide::kernels_internal
