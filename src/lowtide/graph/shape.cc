// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/shape.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/limits.h"

namespace lowtide {
namespace {

// The product of the extents, where 0 counts as 1. Returns nullopt if it has no 63 bits.
std::optional<std::int64_t> product_beside_zeros(const std::vector<std::int64_t>& extents) {
  std::optional<std::int64_t> product = 1;
  for (std::int64_t extent : extents) {
    if (product && extent != 0) product = checked_multiply(*product, extent);
  }
  return product;
}

}  // namespace

Result<std::int64_t> element_count(const Shape& shape) {
  const std::vector<std::int64_t>& extents = shape.extents();
  for (std::int64_t extent : extents) {
    if (extent < 0) {
      return Error{ErrorCode::invalid,
                   "extent " + std::to_string(extent) + " of shape " + to_string(shape) + " is negative", ""};
    }
  }
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return std::int64_t{0};
  const std::optional<std::int64_t> count = product_beside_zeros(extents);
  if (count) return *count;
  return Error{ErrorCode::over_limit, "shape " + to_string(shape) + " has more than 2^63 - 1 elements", ""};
}

Result<Bytes> dense_size(DType dtype, const Shape& shape) {
  if (shape.rank() > limits::kMaxRank) {
    return Error{ErrorCode::over_limit,
                 "rank " + std::to_string(shape.rank()) + " is above the limit of " + std::to_string(limits::kMaxRank) +
                     " (kMaxRank)",
                 ""};
  }
  const std::optional<int> bits = bits_of(dtype);
  if (!bits) return Error{ErrorCode::unsupported, "element type string has no fixed size", ""};
  Result<std::int64_t> count = element_count(shape);
  if (!count) return count.error();
  // Arithmetic on extents relies on the limit, so it also holds beside an extent of 0. The number of bits may exceed 63
  // bits even if the number of bytes does not, so each step is checked.
  const std::optional<std::int64_t> most = product_beside_zeros(shape.extents());
  const std::optional<std::int64_t> total_bits = most ? checked_multiply(*most, *bits) : std::nullopt;
  const std::optional<std::int64_t> padded = total_bits ? checked_add(*total_bits, 7) : std::nullopt;
  if (!padded || *padded / 8 > limits::kMaxTensorBytes) {
    return Error{ErrorCode::over_limit,
                 "a tensor of " + std::string(to_string(dtype)) + to_string(shape) + " is above the limit of " +
                     std::to_string(limits::kMaxTensorBytes) + " bytes (kMaxTensorBytes)" +
                     (*count == 0 ? ", where an extent of 0 counts as 1" : ""),
                 ""};
  }
  return Bytes(*count == 0 ? 0 : *padded / 8);
}

std::optional<std::vector<std::int64_t>> broadcast_extents(std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    if (a[axis] == 1) a[axis] = b[axis];
    if (b[axis] != 1 && b[axis] != a[axis]) return std::nullopt;
  }
  return a;
}

std::string to_string(const Shape& shape) {
  // Keeps messages short, because hostile files have ranks of 10^6.
  constexpr int kMostShown = limits::kMaxRank;
  std::string text = "[";
  for (int axis = 0; axis < std::min(shape.rank(), kMostShown); ++axis) {
    if (axis > 0) text += ",";
    if (shape.is_at_most(axis)) text += "<=";
    text += std::to_string(shape[axis]);
  }
  if (shape.rank() > kMostShown) text += ",...";
  return text + "]";
}

}  // namespace lowtide
