// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/dtype.h"

namespace lowtide {

// The extents of a tensor, outermost first; rank 0 is a scalar (one element). In a Graph every extent is
// a number: importers bind symbols first. An extent may be only an upper bound (data-dependent sizes, such
// as the output of NonZero); `is_at_most` says so, and sizes derived from it err upwards, never downwards.
class Shape {
 public:
  Shape() = default;
  explicit Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  [[nodiscard]] int rank() const { return static_cast<int>(extents_.size()); }
  [[nodiscard]] std::int64_t operator[](int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] const std::vector<std::int64_t>& extents() const { return extents_; }

  [[nodiscard]] bool is_at_most(int axis) const { return ((at_most_ >> static_cast<unsigned>(axis)) & 1U) != 0; }
  [[nodiscard]] bool has_upper_bounds() const { return at_most_ != 0; }
  // Marks an extent as an upper bound. Require: axis < rank() <= limits::kMaxRank (64).
  void mark_at_most(int axis) { at_most_ |= std::uint64_t{1} << static_cast<unsigned>(axis); }

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> extents_;  // each >= 0
  std::uint64_t at_most_ = 0;          // bit i: extent i is an upper bound
};

// Number of elements; an error (over_limit) if it does not fit 63 bits, (invalid) if an extent is negative.
// A shape with a zero extent has no elements, whatever the others are.
[[nodiscard]] Result<std::int64_t> element_count(const Shape& shape);

// Bytes of a dense row-major tensor: elements x bits, rounded up to whole bytes. Errors: rank above
// limits::kMaxRank, more than limits::kMaxTensorBytes, dtype without a dense size (unsupported).
[[nodiscard]] Result<Bytes> dense_size(DType dtype, const Shape& shape);

// "[1,3,<=100]"
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace lowtide
