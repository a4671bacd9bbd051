// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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
  // Returns the function for the computed_type() of the operand and a result of f16 or bf16. nullptr: as above.
  RowFunction (*narrow_function)(DType first) = nullptr;
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

}  // namespace lowtide::kernels_internal
