// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/strided_copy.h"

#include <cstring>

#include "lowtide/kernels/common/team_parts.h"

namespace lowtide::kernels_internal {
namespace {

// One row of elements; T only has their size.
template <typename T>
void copy_row(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t from_stride,
              std::int64_t to_stride) {
  const auto* source = reinterpret_cast<const T*>(from);
  auto* target = reinterpret_cast<T*>(to);
  if (from_stride == 0 && to_stride == 1) {
    const T repeated = *source;
    for (std::int64_t at = 0; at < count; ++at) target[at] = repeated;
    return;
  }
  for (std::int64_t at = 0; at < count; ++at) target[at * to_stride] = source[at * from_stride];
}

using RowCopy = void (*)(const std::byte*, std::byte*, std::int64_t, std::int64_t, std::int64_t);

RowCopy row_copy(int element_bytes) {
  switch (element_bytes) {
    case 1: return &copy_row<std::uint8_t>;
    case 2: return &copy_row<std::uint16_t>;
    case 4: return &copy_row<std::uint32_t>;
    default: return &copy_row<std::uint64_t>;
  }
}

}  // namespace

void StridedCopy::add(std::int64_t extent, std::int64_t from_stride, std::int64_t to_stride) {
  if (extent == 0) is_empty_ = true;
  if (extent == 1) return;
  if (count_ > 0) {
    Axis& outer = axes_[count_ - 1];
    if (outer.from == from_stride * extent && outer.to == to_stride * extent) {
      outer = {outer.extent * extent, from_stride, to_stride};
      return;
    }
  }
  axes_[count_++] = {extent, from_stride, to_stride};
}

void StridedCopy::run(const std::byte* from, std::byte* to, int element_bytes) const {
  if (is_empty_) return;
  const Axis inner = count_ == 0 ? Axis{1, 1, 1} : axes_[count_ - 1];
  const bool is_contiguous = inner.from == 1 && inner.to == 1;
  const RowCopy copy = row_copy(element_bytes);
  std::array<std::int64_t, 2 * static_cast<std::size_t>(kMostAxes)> index{};
  while (true) {
    if (is_contiguous) {
      copy_bytes(from, to, inner.extent * element_bytes);
    } else {
      copy(from, to, inner.extent, inner.from, inner.to);
    }
    std::size_t axis = count_ == 0 ? 0 : count_ - 1;
    while (axis > 0) {
      const Axis& outer = axes_[--axis];
      from += outer.from * element_bytes;
      to += outer.to * element_bytes;
      if (++index[axis] < outer.extent) break;
      from -= outer.from * outer.extent * element_bytes;
      to -= outer.to * outer.extent * element_bytes;
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (count_ <= 1) return;
  }
}

void StridedCopy::run(const std::byte* from, std::byte* to, int element_bytes, Team& team) const {
  if (is_empty_ || count_ == 0) return run(from, to, element_bytes);
  std::size_t longest = 0;
  std::int64_t elements = 1;
  for (std::size_t at = 0; at < count_; ++at) {
    elements *= axes_[at].extent;
    if (axes_[at].extent > axes_[longest].extent) longest = at;
  }
  const Axis& divided = axes_[longest];
  run_in_parts(team, divided.extent, elements, [&](std::int64_t begin, std::int64_t end) {
    StridedCopy part = *this;
    part.axes_[longest].extent = end - begin;
    part.run(from + begin * divided.from * element_bytes, to + begin * divided.to * element_bytes, element_bytes);
    return RunCode::ok;
  });
}

Extents dense_strides(const Extents& extents) {
  Extents strides = extents;
  std::int64_t stride = 1;
  for (int axis = extents.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= extents[axis];
  }
  return strides;
}

void copy_bytes(const std::byte* from, std::byte* to, std::int64_t bytes) {
  if (from != to && bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace lowtide::kernels_internal
