// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/dtype.h"

namespace lowtide {

// The extents of a tensor, outermost first. Rank 0 is a scalar with one element. In a Graph every extent is a number,
// because importers bind symbols first. An extent may be only an upper bound, for a size that depends on data, such as
// the output of NonZero. `is_at_most` identifies these extents. Sizes that are derived from them are upper bounds, too.
class Shape {
 public:
  Shape() = default;
  explicit Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  [[nodiscard]] int rank() const { return static_cast<int>(extents_.size()); }
  [[nodiscard]] std::int64_t operator[](int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] const std::vector<std::int64_t>& extents() const { return extents_; }

  [[nodiscard]] bool is_at_most(int axis) const { return ((at_most_ >> static_cast<unsigned>(axis)) & 1U) != 0; }
  [[nodiscard]] bool has_upper_bounds() const { return at_most_ != 0; }
  // Marks an extent as an upper bound. Requires: axis < rank() <= limits::kMaxRank (64).
  void mark_at_most(int axis) { at_most_ |= std::uint64_t{1} << static_cast<unsigned>(axis); }

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> extents_;  // each >= 0
  std::uint64_t at_most_ = 0;          // bit i: extent i is an upper bound
};

// The number of elements. It is 0 if any extent is 0. Errors: (over_limit) more than 2^63 - 1 elements; (invalid) a
// negative extent.
[[nodiscard]] Result<std::int64_t> element_count(const Shape& shape);

// The bytes of a dense row-major tensor: elements x bits, rounded up to whole bytes. Errors: (over_limit) a rank above
// limits::kMaxRank, or more than limits::kMaxTensorBytes; (unsupported) a dtype without a dense size.
[[nodiscard]] Result<Bytes> dense_size(DType dtype, const Shape& shape);

// The extents of a result whose operands are broadcast to each other, as in NumPy: axes are matched from the last one,
// and an extent of 1 repeats. nullopt: they do not fit together.
[[nodiscard]] std::optional<std::vector<std::int64_t>> broadcast_extents(std::vector<std::int64_t> a,
                                                                         std::vector<std::int64_t> b);

// "[1,3,<=100]"
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace lowtide
