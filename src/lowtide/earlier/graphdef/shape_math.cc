// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/shape_math.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/checked.h"

namespace lowtide::graphdef_internal {
namespace {

// What two extents of one axis become when they are broadcast; nullopt: they do not fit. An open extent may be 1.
std::optional<std::int64_t> broadcast_extent(std::int64_t a, std::int64_t b) {
  if (a == kOpen || b == kOpen) return std::max(a, b) > 1 ? std::max(a, b) : kOpen;
  if (a != b && a != 1 && b != 1) return std::nullopt;
  return a == 1 ? b : a;
}

}  // namespace

std::optional<std::size_t> index_of_axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::optional<std::int64_t> product(const Extents& extents) {
  std::int64_t all = 1;
  for (std::int64_t extent : extents) {
    const std::optional<std::int64_t> next = checked_multiply(all, extent);
    if (!next) return std::nullopt;
    all = *next;
  }
  return all;
}

std::optional<std::int64_t> added_extents(std::int64_t a, std::int64_t b) {
  return a == kOpen || b == kOpen ? std::optional(kOpen) : checked_add(a, b);
}

std::optional<std::int64_t> multiplied_extents(std::int64_t a, std::int64_t b) {
  return a == kOpen || b == kOpen ? std::optional(kOpen) : checked_multiply(a, b);
}

bool is_open(const Extents& extents) { return std::find(extents.begin(), extents.end(), kOpen) != extents.end(); }

std::optional<Extents> open_broadcast(Extents a, Extents b) {
  if (a.size() < b.size()) std::swap(a, b);
  const std::size_t shift = a.size() - b.size();
  for (std::size_t axis = 0; axis < b.size(); ++axis) {
    const std::optional<std::int64_t> extent = broadcast_extent(a[axis + shift], b[axis]);
    if (!extent) return std::nullopt;
    a[axis + shift] = *extent;
  }
  return a;
}

}  // namespace lowtide::graphdef_internal
