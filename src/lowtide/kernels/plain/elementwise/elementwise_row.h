// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "lowtide/kernels/common/number_types.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/tensor_view.h"
#include "lowtide/kernels/plain/elementwise/row_loops.h"

namespace lowtide::kernels_internal {

// A run of elements of an element-wise operator with up to three operands. Elements are read before the result at the
// same place is written, so the result may have the place of an operand with step 1.
struct Row {
  std::array<const std::byte*, 3> reads{};  // nullptr: omitted
  std::array<std::int64_t, 3> steps{};      // 1, or 0 if one element is repeated
  std::byte* write = nullptr;
  std::int64_t count = 0;  // > 0
};

// Computes a row. The operator and the types are those of the function. It never gets f16 or bf16: the caller converts
// blocks of them to f32 and back, unless the operator only moves elements. Errors: division_by_zero.
using RowFunction = RunCode (*)(const Row& row, const Numbers& numbers);

// An attribute that becomes a number: an integer, a float, or 1 if it is the text `text`, and 0 if it is another text.
struct NumberAttribute {
  std::string_view name;  // "": there is none
  double otherwise = 0;   // if the attribute is absent
  std::string_view text;
};

// An element-wise operator.
struct ElementwiseOperator {
  SupportedOperator op;
  std::size_t operands = 1;  // inputs that must be present; of a variadic operator at least as many
  // Returns the function for the computed_type() of the operands and of the result. Returns nullptr
  // if there is none. The second type is that of the result if there is no second operand.
  RowFunction (*function)(DType first, DType second, DType result) = nullptr;
  std::array<NumberAttribute, 2> numbers{};
  bool moves_elements = false;  // it computes nothing, so nothing is converted
  bool ignores_others = false;  // only the first operand takes part in the run
  bool is_variadic = false;     // the function combines two operands, and more operands follow one after another
};

// The tables of the families of elementwise.h, except casts.
[[nodiscard]] std::span<const ElementwiseOperator> unary_table();
[[nodiscard]] std::span<const ElementwiseOperator> binary_table();
[[nodiscard]] std::span<const ElementwiseOperator> select_table();
// QuantizeLinear and DequantizeLinear with one scale for all elements, for chains (quantize.cc).
[[nodiscard]] std::span<const ElementwiseOperator> quantize_table();

// A node that computes rows.
struct ElementwiseStep {
  RowFunction function = nullptr;
  Numbers numbers{};
  std::array<DType, 3> operands{};  // their types; f32 where there is no operand
  DType result = DType::f32;
  bool converts_narrow = false;  // some operand or the result is f16 or bf16, and the operator computes
  bool ignores_others = false;   // ElementwiseOperator::ignores_others
};
// Returns nullopt if no table has the operator of the node for its types, or if it combines more than two operands.
[[nodiscard]] std::optional<ElementwiseStep> elementwise_step(const Graph& graph, NodeId node);
// Computes a row of any types.
RunCode run_step(const ElementwiseStep& step, const Row& row);

// The functions of a family of element-wise operators, given its table.
Offer offer_elementwise(std::span<const ElementwiseOperator> table, const OfferInput& input);
Result<std::unique_ptr<PreparedKernel>> prepare_elementwise(std::span<const ElementwiseOperator> table,
                                                            const PrepareInput& input);

template <std::size_t N>
constexpr std::array<SupportedOperator, N> operators_of(const std::array<ElementwiseOperator, N>& table) {
  std::array<SupportedOperator, N> operators{};
  for (std::size_t at = 0; at < N; ++at) operators[at] = table[at].op;
  return operators;
}

// The element types of the first operand.
inline constexpr std::array kIntegerTypes{DType::i64, DType::i32, DType::i16, DType::i8,
                                          DType::u64, DType::u32, DType::u16, DType::u8};
inline constexpr std::array kAllTypes{DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                                      DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                                      DType::u16, DType::u8,  DType::boolean};
inline constexpr std::array kBooleanType{DType::boolean};

constexpr SupportedOperator on_integers(std::string_view type) { return {"", type, kIntegerTypes}; }
constexpr SupportedOperator on_numbers(std::string_view type) { return {"", type, kNumberTypes}; }
constexpr SupportedOperator on_booleans(std::string_view type) { return {"", type, kBooleanType}; }

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
