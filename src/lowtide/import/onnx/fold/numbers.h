// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/base/int128.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/import/onnx/fold/known_content.h"

// The numbers of ONNX's element types, and ranges of them.
namespace lowtide::import_internal {

// The foldable types, whose elements can be known, are all except floats of at most 8 bits, complex types and string.
[[nodiscard]] bool is_integer(DType dtype);  // includes bool
[[nodiscard]] bool is_float(DType dtype);    // f64, f32, f16, bf16
[[nodiscard]] inline bool is_foldable(DType dtype) { return is_integer(dtype) || is_float(dtype); }

// The lowest and the highest number of an integer type; 0 and 1 for bool.
[[nodiscard]] Int128 lowest_of(DType dtype);
[[nodiscard]] Int128 highest_of(DType dtype);

// The integer modulo 2^bits, as the type represents it. Returns nullopt for a u64 beyond 63 bits.
[[nodiscard]] std::optional<std::int64_t> wrapped(DType dtype, Int128 number);
// The nearest number of a float type, with ties to even. Infinite beyond its range.
[[nodiscard]] double rounded(DType dtype, double number);

[[nodiscard]] KnownElement exact_integer(std::int64_t number);
[[nodiscard]] KnownElement exact_real(double number);
[[nodiscard]] KnownElement exact_bool(bool truth);

// The range of an element, both ends included. An exact element is a range of one number.
struct IntegerRange {
  Int128 low = 0;
  Int128 high = 0;
  [[nodiscard]] bool is_exact() const { return low == high; }
};
struct RealRange {
  double low = 0;
  double high = 0;
  bool is_exact = false;  // then low and high are the same number, or both NaN
};

// Returns nullopt if nothing is known. An unknown extent, which is an element with a symbol, is at least 0.
[[nodiscard]] std::optional<IntegerRange> integer_range(const KnownElement& element);
[[nodiscard]] std::optional<RealRange> real_range(const KnownElement& element);

// Returns the strongest element that holds for a range of results before wrap-around and rounding. An exact result is
// wrapped or rounded. If another range leaves the type or goes below 0, the element is unknown.
[[nodiscard]] KnownElement element_of(DType dtype, const IntegerRange& range);
[[nodiscard]] KnownElement element_of(DType dtype, const RealRange& range);

// Returns what holds for an element that is one of the two.
[[nodiscard]] KnownElement either(DType dtype, const KnownElement& a, const KnownElement& b);

}  // namespace lowtide::import_internal
