// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>

#include "lowtide/kernels/common/family.h"
#include "lowtide/kernels/common/tensor_view.h"

namespace lowtide::kernels_internal {

// The extents of a tensor during a run, without memory from the heap. At most kMostAxes.
class Extents {
 public:
  Extents() = default;
  // Requires: at most kMostAxes numbers.
  explicit Extents(std::span<const std::int64_t> values) {
    for (std::int64_t value : values) push_back(value);
  }
  Extents(std::initializer_list<std::int64_t> values) : Extents(std::span(values.begin(), values.size())) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::int64_t operator[](int axis) const { return values_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int64_t& operator[](int axis) { return values_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] bool is_full() const { return rank_ == kMostAxes; }
  void push_back(std::int64_t value) { values_[static_cast<std::size_t>(rank_++)] = value; }
  [[nodiscard]] std::span<const std::int64_t> values() const {
    return {values_.data(), static_cast<std::size_t>(rank_)};
  }
  // The product of the extents of the axes [begin, end). The data of a model may be these extents, and have no product
  // of 64 bits. Then the result is the nearest number, or 0 if the last extent is 0.
  [[nodiscard]] std::int64_t product(int begin, int end) const {
    std::int64_t product = 1;
    for (int axis = begin; axis < end; ++axis) {
      const std::int64_t extent = (*this)[axis];
      const bool is_negative = (product < 0) != (extent < 0);
      if (!__builtin_mul_overflow(product, extent, &product)) continue;
      product = is_negative ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
    }
    return product;
  }
  [[nodiscard]] std::int64_t count() const { return product(0, rank_); }

 private:
  int rank_ = 0;
  std::array<std::int64_t, kMostAxes> values_{};
};

// Returns nullopt if the axis is not in [-rank, rank). A negative axis counts from the end.
[[nodiscard]] std::optional<int> axis_in(std::int64_t axis, int rank);

// Gives a result its extents. Returns bad_extents if an extent is negative or if a static result has others, or
// size_exceeds_plan if the result does not fit, or an extent exceeds its upper bound. A kernel calls it before it
// writes. Extents of any size are allowed.
[[nodiscard]] RunStatus set_extents(const BoundTensor& result, const Extents& extents);

// The extents of a result whose operands are broadcast to each other, as in numpy. Omitted operands do not count.
// Returns nullopt if two operands disagree.
[[nodiscard]] std::optional<Extents> broadcast(std::span<const BoundTensor> operands);

// The elements of an operand of dtype i64 or i32, such as axes or a shape. Returns nullopt if it has another type, or
// more than kMostAxes elements.
[[nodiscard]] std::optional<Extents> integers_of(const BoundTensor& operand);

// The bytes of an element. Requires: the type has whole bytes.
[[nodiscard]] int element_bytes(DType dtype);

}  // namespace lowtide::kernels_internal
