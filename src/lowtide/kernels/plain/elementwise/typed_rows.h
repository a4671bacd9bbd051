// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lowtide/kernels/common/number_types.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"
#include "lowtide/kernels/plain/elementwise/row_loops.h"

// The row functions of an operator, chosen by its element types.
namespace lowtide::kernels_internal {

// result[i] = compute(x[i], numbers)
template <auto compute, typename T, typename R = T>
RunCode unary_row(const Row& row, const Numbers& numbers) {
  const auto* x = reinterpret_cast<const T*>(row.reads[0]);
  auto* y = reinterpret_cast<R*>(row.write);
  if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float>) {
    unary_float_loop<compute>(x, y, row.count, numbers);
  } else {
    unary_loop<compute>(x, y, row.count, numbers);
  }
  return RunCode::ok;
}

// result[i] = compute(x[i], y[i])
template <auto compute, typename T, typename R = T>
RunCode binary_row(const Row& row, const Numbers& /*numbers*/) {
  const auto* x = reinterpret_cast<const T*>(row.reads[0]);
  const auto* y = reinterpret_cast<const T*>(row.reads[1]);
  auto* z = reinterpret_cast<R*>(row.write);
  if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float>) {
    binary_float_loop<compute>(x, y, z, {row.steps[0], row.steps[1], row.count});
  } else {
    binary_loop<compute>(x, y, z, {row.steps[0], row.steps[1], row.count});
  }
  return RunCode::ok;
}

// Returns functions.operator()<T>() for the integers of a type, or nullptr for other types.
template <typename Functions>
RowFunction for_integers(DType dtype, const Functions& functions) {
  switch (dtype) {
    case DType::i64: return functions.template operator()<std::int64_t>();
    case DType::i32: return functions.template operator()<std::int32_t>();
    case DType::i16: return functions.template operator()<std::int16_t>();
    case DType::i8: return functions.template operator()<std::int8_t>();
    case DType::u64: return functions.template operator()<std::uint64_t>();
    case DType::u32: return functions.template operator()<std::uint32_t>();
    case DType::u16: return functions.template operator()<std::uint16_t>();
    case DType::u8: return functions.template operator()<std::uint8_t>();
    default: return nullptr;
  }
}
// The same for operators whose bits do not depend on the sign: there is one function for all integers of a size.
template <typename Functions>
RowFunction for_integer_bits(DType dtype, const Functions& functions) {
  switch (dtype) {
    case DType::i64:
    case DType::u64: return functions.template operator()<std::uint64_t>();
    case DType::i32:
    case DType::u32: return functions.template operator()<std::uint32_t>();
    case DType::i16:
    case DType::u16: return functions.template operator()<std::uint16_t>();
    case DType::i8:
    case DType::u8: return functions.template operator()<std::uint8_t>();
    default: return nullptr;
  }
}
template <typename Functions>
RowFunction for_reals(DType dtype, const Functions& functions) {
  if (dtype == DType::f64) return functions.template operator()<double>();
  return dtype == DType::f32 ? functions.template operator()<float>() : nullptr;
}
template <typename Functions>
RowFunction for_numbers(DType dtype, const Functions& functions) {
  const RowFunction found = for_reals(dtype, functions);
  return found != nullptr ? found : for_integers(dtype, functions);
}

// The row function of an operator whose operands have one type.
template <auto compute>
RowFunction unary_numbers(DType first, DType /*second*/, DType result) {
  return first == result ? for_numbers(first, []<typename T>() -> RowFunction { return &unary_row<compute, T>; })
                         : nullptr;
}
// `on_f64`: the same function of f64.
template <auto compute, auto on_f64 = compute>
RowFunction unary_reals(DType first, DType /*second*/, DType result) {
  if (first != result) return nullptr;
  if (first == DType::f64) return &unary_row<on_f64, double>;
  return first == DType::f32 ? &unary_row<compute, float> : nullptr;
}
template <auto compute>
RowFunction binary_integers(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  return for_integers(first, []<typename T>() -> RowFunction { return &binary_row<compute, T>; });
}
template <auto compute>
RowFunction binary_numbers(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  return for_numbers(first, []<typename T>() -> RowFunction { return &binary_row<compute, T>; });
}
// For operators that give the same bits for signed and unsigned integers.
template <auto compute>
RowFunction binary_bits(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  return for_integer_bits(first, []<typename T>() -> RowFunction { return &binary_row<compute, T>; });
}
template <auto compute>
RowFunction binary_wrapping(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  const RowFunction found = for_reals(first, []<typename T>() -> RowFunction { return &binary_row<compute, T>; });
  return found != nullptr ? found : binary_bits<compute>(first, second, result);
}

// Integers wrap around. Unsigned arithmetic does so without undefined behaviour.
template <typename T, typename Operation>
constexpr T wrapped(T a, T b, Operation operation) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(operation(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  } else {
    return operation(a, b);
  }
}

}  // namespace lowtide::kernels_internal
