// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/graph/dtype.h"
#include "lowtide/import/onnx/fold/known_content.h"

// The numbers of ONNX's element types, and ranges of them: a private header of this room.
namespace lowtide::import_internal {

__extension__ typedef __int128 Int128;  // wide enough for one product of two 64-bit integers

// Types of which elements can be known: all but 8-bit and smaller floats, complex and string.
[[nodiscard]] bool is_integer(DType dtype);  // with bool
[[nodiscard]] bool is_float(DType dtype);    // f64, f32, f16, bf16
[[nodiscard]] inline bool is_foldable(DType dtype) { return is_integer(dtype) || is_float(dtype); }

// The least and the greatest number of an integer type (bool: 0 and 1).
[[nodiscard]] Int128 lowest_of(DType dtype);
[[nodiscard]] Int128 highest_of(DType dtype);

// The integer modulo 2^bits, as the type represents it; nothing where that is a u64 beyond 63 bits.
[[nodiscard]] std::optional<std::int64_t> wrapped(DType dtype, Int128 number);
// The nearest number of a float type, ties to even; beyond its range infinite.
[[nodiscard]] double rounded(DType dtype, double number);

[[nodiscard]] KnownElement exact_integer(std::int64_t number);
[[nodiscard]] KnownElement exact_real(double number);
[[nodiscard]] KnownElement exact_bool(bool truth);

// Between which numbers an element lies, both included. An element that is `exact` is a range of one number.
struct IntegerRange {
  Int128 low = 0;
  Int128 high = 0;
  [[nodiscard]] bool is_exact() const { return low == high; }
};
struct RealRange {
  double low = 0;
  double high = 0;
  bool is_exact = false;  // then low and high are the same number, maybe NaN
};

// Nothing where nothing is known. An unknown extent (an element with a symbol) is at least 0.
[[nodiscard]] std::optional<IntegerRange> integer_range(const KnownElement& element);
[[nodiscard]] std::optional<RealRange> real_range(const KnownElement& element);

// The most that an element can say about a range of true results: an exact result wraps around; of a range that leaves
// the type, or goes below 0, nothing is known.
[[nodiscard]] KnownElement element_of(DType dtype, const IntegerRange& range);
[[nodiscard]] KnownElement element_of(DType dtype, const RealRange& range);

// What holds of an element that is one of the two.
[[nodiscard]] KnownElement either(DType dtype, const KnownElement& a, const KnownElement& b);

// ONNX's numbers of the element types (TensorProto.DataType).
[[nodiscard]] std::optional<DType> dtype_of_onnx_number(std::int64_t number);
[[nodiscard]] std::int64_t onnx_number_of(DType dtype);

}  // namespace lowtide::import_internal
