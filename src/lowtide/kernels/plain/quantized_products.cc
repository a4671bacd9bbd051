// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>

#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/matmul_shapes.h"
#include "lowtide/kernels/plain/quantized.h"

namespace lowtide::kernels_internal {
namespace {

// Where the operands are in Node::inputs.
struct ProductOperands {
  std::size_t b = 1;
  std::size_t a_zero = 2;
  std::size_t b_zero = 3;
};
constexpr ProductOperands kOfMatMulInteger{};
constexpr ProductOperands kOfQLinearMatMul{.b = 3, .a_zero = 2, .b_zero = 5};

struct QuantizedProductParameters {};

// One row of a product of integers.
struct IntegerRow {
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  std::int32_t a_zero = 0;
  ZeroPoints b_zero;
};

// sums[column] = the sum of (a[i] - a_zero) * (b[i][column] - b_zero[column])
template <typename A, typename B>
void multiply_row(const IntegerRow& row, const A* a, const B* b, std::int32_t* sums) {
  std::fill_n(sums, row.columns, 0);
  for (std::int64_t at = 0; at < row.inner; ++at, b += row.columns) {
    const std::int32_t factor = static_cast<std::int32_t>(a[at]) - row.a_zero;
    if (row.b_zero.is_one) {
      const std::int32_t zero = row.b_zero.at(0);
      for (std::int64_t column = 0; column < row.columns; ++column) {
        add_wrapped(sums[column], factor * (static_cast<std::int32_t>(b[column]) - zero));
      }
    } else {
      for (std::int64_t column = 0; column < row.columns; ++column) {
        add_wrapped(sums[column], factor * (static_cast<std::int32_t>(b[column]) - row.b_zero.at(column)));
      }
    }
  }
}

// Calls finish(number of the row, sums) for each row of the result. Sums are in the memory that row_sums(row) gives.
template <typename RowSums, typename Finish>
RunStatus multiply_integers(const Operands& operands, const ProductOperands& of, RowSums row_sums, Finish finish) {
  const BoundTensor& a = operands.reads[0];
  const BoundTensor& b = operands.reads[of.b];
  const std::optional<MatMulShapes> shapes = matmul_shapes(a, b);
  if (!shapes) return {RunCode::bad_extents, 1};
  const std::int64_t rows = shapes->a[shapes->a.rank() - 2];
  const std::int64_t inner = shapes->a[shapes->a.rank() - 1];
  const std::int64_t columns = shapes->b[shapes->b.rank() - 1];
  const bool agrees = has_one_or(operands.reads, of.a_zero, rows) && has_one_or(operands.reads, of.b_zero, columns);
  if (!agrees) return {RunCode::bad_extents, static_cast<std::uint32_t>(of.a_zero)};
  if (const RunStatus status = set_extents(operands.writes[0], shapes->result); status.code != RunCode::ok) {
    return status;
  }
  const ZeroPoints a_zero = zero_points(operands.reads, of.a_zero);
  IntegerRow row{.inner = inner, .columns = columns, .b_zero = zero_points(operands.reads, of.b_zero)};
  const int batch = std::max(shapes->a.rank(), shapes->b.rank()) - 2;
  for (std::int64_t number = 0; number < shapes->result.product(0, batch) * rows; ++number) {
    const std::int64_t matrix = number / rows;
    const std::byte* from_a =
        *a.bytes + (matrix_of(shapes->a, shapes->result, batch, matrix) * rows + number % rows) * inner;
    const std::byte* from_b = *b.bytes + matrix_of(shapes->b, shapes->result, batch, matrix) * inner * columns;
    row.a_zero = a_zero.at(number % rows);
    std::int32_t* sums = row_sums(number, columns);
    dispatch_bytes({a.dtype, b.dtype}, from_a, from_b,
                   [&](const auto* of_a, const auto* of_b) { multiply_row(row, of_a, of_b, sums); });
    finish(number, columns, sums);
  }
  return {};
}

RunStatus run_integer_product(const QuantizedProductParameters& /*parameters*/, const Operands& operands,
                              Team& /*team*/) {
  return multiply_integers(
      operands, kOfMatMulInteger,
      [&](std::int64_t row, std::int64_t columns) {
        return mutable_elements<std::int32_t>(operands.writes[0]) + row * columns;
      },
      [](std::int64_t, std::int64_t, const std::int32_t*) {});
}

RunStatus run_quantized_product(const QuantizedProductParameters& /*parameters*/, const Operands& operands,
                                Team& /*team*/) {
  for (const std::uint32_t one : {1U, 6U, 7U}) {
    if (count_of(operands.reads[one]) != 1) return {RunCode::bad_extents, one};
  }
  const BoundTensor& b_scale = operands.reads[4];
  const Extents of_b(extents_of(operands.reads[3]));
  if (of_b.rank() == 0 || !has_one_or(operands.reads, 4, of_b[of_b.rank() - 1])) return {RunCode::bad_extents, 4};
  const float scale = *elements<float>(operands.reads[1]) / *elements<float>(operands.reads[6]);
  const std::int32_t zero = small_integer(operands.reads[7], 0);
  const bool is_one = count_of(b_scale) == 1;
  const BoundTensor& result = operands.writes[0];
  return multiply_integers(
      operands, kOfQLinearMatMul,
      [&](std::int64_t, std::int64_t) { return reinterpret_cast<std::int32_t*>(operands.scratch); },
      [&](std::int64_t row, std::int64_t columns, const std::int32_t* sums) {
        for (std::int64_t column = 0; column < columns; ++column) {
          const float value = static_cast<float>(sums[column]) * scale * elements<float>(b_scale)[is_one ? 0 : column];
          write_quantized(result, row * columns + column, value, zero);
        }
      });
}

std::string missing_integer_product(const Graph& graph, const Node& node) {
  const bool has_types =
      is_byte(graph.tensor(*node.inputs[1]).dtype) && graph.tensor(*node.outputs[0]).dtype == DType::i32;
  return has_types ? "" : "the second operand is not i8 or u8, or the result is not i32";
}
std::string missing_quantized_product(const Graph& graph, const Node& node) {
  for (const std::size_t scale : {1, 4, 6}) {
    if (computed_type(graph, node, scale) != DType::f32) return "the scales are not f32 or f16";
  }
  const bool has_types = is_byte(graph.tensor(*node.inputs[3]).dtype) && is_byte(graph.tensor(*node.outputs[0]).dtype);
  return has_types ? "" : "the second operand or the result is not i8 or u8";
}

Bytes product_scratch(const Graph& graph, const Node& node) {
  const std::vector<std::int64_t>& extents = graph.tensor(*node.inputs[3]).shape.extents();
  return extents.empty() ? Bytes(0) : Bytes(4) * extents.back();
}

// Sorted by type.
constexpr std::array kQuantizedProductTable{
    PlainOperator{{"", "MatMulInteger", kByteTypes},
                  2,
                  [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_integer_product, QuantizedProductParameters{});
                  },
                  &missing_integer_product},
    PlainOperator{{"", "QLinearMatMul", kByteTypes},
                  8,
                  [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_quantized_product, QuantizedProductParameters{});
                  },
                  &missing_quantized_product,
                  &product_scratch,
                  true},
};
constexpr std::array kQuantizedProductOperators = operators_of(kQuantizedProductTable);

}  // namespace

Family quantized_product_family() {
  return {.name = "quantized products",
          .operators = kQuantizedProductOperators,
          .offer = [](const Graph& graph, NodeId node) { return offer_from(kQuantizedProductTable, graph, node); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kQuantizedProductTable, input); }};
}

}  // namespace lowtide::kernels_internal
