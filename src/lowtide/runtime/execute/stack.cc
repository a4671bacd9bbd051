// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/execute/stack.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "lowtide/runtime/execute/tensors.h"

namespace lowtide::runtime_internal {

Stack::Stack(const BoundTensor& whole, const BoundTensor& slice, SliceAxis axis)
    : whole_(whole),
      slice_(slice),
      axis_(axis),
      slice_extents_(static_cast<std::size_t>(slice.rank)),
      extents_(static_cast<std::size_t>(slice.rank) + 1) {}

template <typename Copy>
void Stack::for_each_range(std::int64_t at, std::int64_t length, Copy copy) const {
  const std::span<const std::int64_t> extents = extents_of(slice_);
  const auto axis = static_cast<std::size_t>(axis_.axis);
  std::int64_t outer = 1;
  for (std::int64_t extent : extents.first(axis)) outer *= extent;
  const std::int64_t inner = dense_bytes(slice_.dtype, extents.subspan(axis));
  if (inner == 0) return;
  const std::int64_t position = axis_.is_reversed ? length - 1 - at : at;
  for (std::int64_t row = 0; row < outer; ++row) {
    copy(*whole_.bytes + (row * length + position) * inner, *slice_.bytes + row * inner,
         static_cast<std::size_t>(inner));
  }
}

RunStatus Stack::take(std::int64_t at) {
  std::copy_n(whole_.extents, axis_.axis, slice_extents_.begin());
  std::copy(whole_.extents + axis_.axis + 1, whole_.extents + whole_.rank, slice_extents_.begin() + axis_.axis);
  const RunStatus status = set_extents(slice_, slice_extents_);
  if (status.code != RunCode::ok) return status;
  for_each_range(at, length(),
                 [](const std::byte* whole, std::byte* slice, std::size_t bytes) { std::memcpy(slice, whole, bytes); });
  return {};
}

void Stack::begin(std::optional<std::int64_t> length) {
  length_ = length;
  for (int axis = 0; axis < slice_.rank; ++axis) {
    slice_extents_[static_cast<std::size_t>(axis)] = slice_.is_dynamic ? 0 : slice_.extents[axis];
  }
}

RunStatus Stack::put(std::int64_t at) {
  if (whole_.bytes == nullptr) return {};
  const std::span<const std::int64_t> extents = extents_of(slice_);
  if (at == 0) std::ranges::copy(extents, slice_extents_.begin());
  if (!std::ranges::equal(extents, slice_extents_)) return {RunCode::bad_extents, 0};
  const std::int64_t bytes = bytes_of(slice_);
  if (bytes == 0) return {};
  // A result that grows at axis 0 has the slices one after another, so its length does not matter.
  const std::int64_t length = length_.value_or(at + 1);
  if (length > whole_.capacity_bytes / bytes) return {RunCode::size_exceeds_plan, 0};
  for_each_range(at, length,
                 [](std::byte* whole, const std::byte* slice, std::size_t count) { std::memcpy(whole, slice, count); });
  return {};
}

RunStatus Stack::end(std::int64_t slices) {
  if (whole_.bytes == nullptr) return {};
  std::copy_n(slice_extents_.begin(), axis_.axis, extents_.begin());
  extents_[static_cast<std::size_t>(axis_.axis)] = slices;
  std::copy(slice_extents_.begin() + axis_.axis, slice_extents_.end(), extents_.begin() + axis_.axis + 1);
  return set_extents(whole_, extents_);
}

}  // namespace lowtide::runtime_internal
