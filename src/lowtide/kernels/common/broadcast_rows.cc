// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/broadcast_rows.h"

#include <algorithm>

namespace lowtide::kernels_internal {

BroadcastRows::BroadcastRows(std::span<const BoundTensor> operands, const Extents& extents, bool joins_short_rows) {
  for (int axis = 0; axis < extents.rank(); ++axis) {
    if (extents[axis] == 1) continue;
    const auto at = static_cast<std::size_t>(axes_);
    extents_[at] = extents[axis];
    from_end_[at] = extents.rank() - axis;
    const bool joins = axes_ > 0 && std::ranges::all_of(operands, [&](const BoundTensor& operand) {
                         return !is_present(operand) || is_whole(operand, axes_) == is_whole(operand, axes_ - 1);
                       });
    if (joins) {
      extents_[at - 1] *= extents[axis];
    } else {
      ++axes_;
    }
  }
  if (axes_ == 0) {  // a single element; no operand has this axis, so all of them repeat it
    extents_[0] = 1;
    from_end_[0] = kMostAxes + 1;
    axes_ = 1;
  }
  length_ = extents_[last()];
  has_joined_ = joins_short_rows && axes_ > 1 && length_ <= kMostPeriod &&
                std::ranges::all_of(operands, [&](const BoundTensor& operand) {
                  return !is_present(operand) || is_whole(operand, axes_ - 1) || !is_whole(operand, axes_ - 2);
                });
  if (has_joined_) length_ *= extents_[last() - 1];
  is_done_ = extents.count() == 0;
}

void BroadcastRows::advance() {
  for (int axis = axes_ - (has_joined_ ? 3 : 2); axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(axis);
    if (++index_[at] < extents_[at]) return;
    index_[at] = 0;
  }
  is_done_ = true;
}

std::int64_t BroadcastRows::begin_in(const BoundTensor& operand) const {
  std::int64_t begin = 0;
  std::int64_t stride = 1;
  for (int axis = axes_ - 1; axis >= 0; --axis) {
    if (!is_whole(operand, axis)) continue;
    const auto at = static_cast<std::size_t>(axis);
    begin += index_[at] * stride;
    stride *= extents_[at];
  }
  return begin;
}

}  // namespace lowtide::kernels_internal
