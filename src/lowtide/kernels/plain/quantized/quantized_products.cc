// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/matmul_shapes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/quantized/integer_rows.h"
#include "lowtide/kernels/plain/quantized/quantized.h"

namespace lowtide::kernels_internal {
namespace {

struct QuantizedProductParameters {
  bool is_transposed = false;  // the second operand
};

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

RunStatus run_integer_product(const QuantizedProductParameters& /*parameters*/, const Operands& operands,
                              Team& /*team*/) {
  const BoundTensor& a = operands.reads[0];
  const BoundTensor& b = operands.reads[1];
  const std::optional<MatMulShapes> shapes = matmul_shapes(a, b);
  if (!shapes) return {RunCode::bad_extents, 1};
  const std::int64_t rows = shapes->a[shapes->a.rank() - 2];
  const std::int64_t inner = shapes->a[shapes->a.rank() - 1];
  const std::int64_t columns = shapes->b[shapes->b.rank() - 1];
  const bool agrees = has_one_or(operands.reads, 2, rows) && has_one_or(operands.reads, 3, columns);
  if (!agrees) return {RunCode::bad_extents, 2};
  if (const RunStatus status = set_extents(operands.writes[0], shapes->result); status.code != RunCode::ok) {
    return status;
  }
  const ZeroPoints a_zero = zero_points(operands.reads, 2);
  IntegerRow row{.inner = inner, .columns = columns, .b_zero = zero_points(operands.reads, 3)};
  const int batch = std::max(shapes->a.rank(), shapes->b.rank()) - 2;
  for (std::int64_t number = 0; number < shapes->result.product(0, batch) * rows; ++number) {
    const std::int64_t matrix = number / rows;
    const std::byte* from_a =
        *a.bytes + (matrix_of(shapes->a, shapes->result, batch, matrix) * rows + number % rows) * inner;
    const std::byte* from_b = *b.bytes + matrix_of(shapes->b, shapes->result, batch, matrix) * inner * columns;
    row.a_zero = a_zero.at(number % rows);
    std::int32_t* sums = mutable_elements<std::int32_t>(operands.writes[0]) + number * columns;
    dispatch_bytes({a.dtype, b.dtype}, from_a, from_b,
                   [&](const auto* of_a, const auto* of_b) { multiply_row(row, of_a, of_b, sums); });
  }
  return {};
}

// A product of two matrices. Places are counted in elements from the begin of the operands and of the result.
struct MatrixProduct {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t result = 0;
  bool is_transposed = false;  // the second matrix is [columns, inner]
};

Requantization requantization_of_column(const Operands& operands, std::int64_t column) {
  const auto at_column = [&](std::size_t operand) {
    const BoundTensor& all = operands.reads[operand];
    return elements<float>(all)[count_of(all) == 1 ? 0 : column];
  };
  return {.factor = *elements<float>(operands.reads[1]) * at_column(4),
          .offset = has_operand(operands.reads, 8) ? at_column(8) : 0.0F,
          .scale = *elements<float>(operands.reads[6]),
          .zero = small_integer(operands.reads[7], 0)};
}

// Multiplies tiles of rows of the first matrix by one column of the second after another.
void multiply(const MatrixProduct& product, const Operands& operands) {
  const Tile tile(operands.scratch, product.inner);
  const ZeroPoints a_zero = zero_points(operands.reads, 2);
  const ZeroPoints b_zero = zero_points(operands.reads, 5);
  const std::int64_t step = product.is_transposed ? 1 : product.columns;
  for (std::int64_t begin = 0; begin < product.rows; begin += tile.rows) {
    const std::int64_t count = std::min(tile.rows, product.rows - begin);
    dispatch_byte(operands.reads[0], product.a, [&](const auto* a) {
      for (std::int64_t at = 0; at < tile.rows; ++at) {
        const std::int64_t row = begin + std::min(at, count - 1);
        widen(a + row * product.inner, 1, product.inner, a_zero.at(row), tile.at(at));
      }
    });
    for (std::int64_t column = 0; column < product.columns; ++column) {
      const std::int64_t first = product.b + column * (product.is_transposed ? product.inner : 1);
      dispatch_byte(operands.reads[3], first,
                    [&](const auto* b) { widen(b, step, product.inner, b_zero.at(column), tile.row); });
      tile.multiply(count);
      requantize(operands.writes[0], product.result + begin * product.columns + column, product.columns,
                 {tile.sums, static_cast<std::size_t>(count)}, requantization_of_column(operands, column));
    }
  }
}

// The extents of the operands, in which the second one is not transposed.
std::optional<MatMulShapes> shapes_of(const Operands& operands, bool is_transposed) {
  if (!is_transposed) return matmul_shapes(operands.reads[0], operands.reads[3]);
  BoundTensor b = operands.reads[3];
  if (b.rank != 2) return std::nullopt;
  std::array<std::int64_t, 2> swapped{b.extents[1], b.extents[0]};
  b.extents = swapped.data();
  return matmul_shapes(operands.reads[0], b);
}

RunStatus run_quantized_product(const QuantizedProductParameters& parameters, const Operands& operands,
                                Team& /*team*/) {
  for (const std::uint32_t one : {1U, 6U, 7U}) {
    if (count_of(operands.reads[one]) != 1) return {RunCode::bad_extents, one};
  }
  const std::optional<MatMulShapes> shapes = shapes_of(operands, parameters.is_transposed);
  if (!shapes) return {RunCode::bad_extents, 3};
  MatrixProduct product{.rows = shapes->a[shapes->a.rank() - 2],
                        .inner = shapes->a[shapes->a.rank() - 1],
                        .columns = shapes->b[shapes->b.rank() - 1],
                        .is_transposed = parameters.is_transposed};
  if (!has_one_or(operands.reads, 2, product.rows)) return {RunCode::bad_extents, 2};
  for (const std::uint32_t of_column : {4U, 5U, 8U}) {
    if (!has_one_or(operands.reads, of_column, product.columns)) return {RunCode::bad_extents, of_column};
  }
  if (const RunStatus status = set_extents(operands.writes[0], shapes->result); status.code != RunCode::ok) {
    return status;
  }
  const int batch = std::max(shapes->a.rank(), shapes->b.rank()) - 2;
  for (std::int64_t matrix = 0; matrix < shapes->result.product(0, batch); ++matrix) {
    product.a = matrix_of(shapes->a, shapes->result, batch, matrix) * product.rows * product.inner;
    product.b = matrix_of(shapes->b, shapes->result, batch, matrix) * product.inner * product.columns;
    product.result = matrix * product.rows * product.columns;
    multiply(product, operands);
  }
  return {};
}

std::string missing_integer_product(const Graph& graph, const Node& node) {
  const bool has_types =
      is_byte(graph.tensor(*node.inputs[1]).dtype) && graph.tensor(*node.outputs[0]).dtype == DType::i32;
  return has_types ? "" : "the second operand is not i8 or u8, or the result is not i32";
}
std::string missing_quantized_product(const Graph& graph, const Node& node) {
  for (const std::size_t scale : {1, 4, 6}) {
    if (computed_type(graph, node, scale) != DType::f32) return "the scales are not f32, f16 or bf16";
  }
  const bool has_types = is_byte(graph.tensor(*node.inputs[3]).dtype) && is_byte(graph.tensor(*node.outputs[0]).dtype);
  return has_types ? "" : "the second operand or the result is not i8 or u8";
}

Bytes product_scratch(const Graph& graph, const Node& node, int /*threads*/) {
  const std::vector<std::int64_t>& extents = graph.tensor(*node.inputs[0]).shape.extents();
  return extents.empty() ? Bytes(0) : tile_bytes(extents.back());
}

std::string missing_biased_product(const Graph& graph, const Node& node) {
  if (computed_type(graph, node, 8).value_or(DType::f32) != DType::f32) return "the bias is not f32";
  return missing_quantized_product(graph, node);
}

PreparedResult prepare_quantized_product(const PrepareInput& input) {
  return plain_kernel(input, &run_quantized_product,
                      QuantizedProductParameters{integer_attribute(node_of(input), kTransposeAttribute, 0) != 0});
}

// Sorted by type.
constexpr std::array kQuantizedProductTable{
    PlainOperator{.op = {"", "MatMulInteger", kByteTypes},
                  .operands = 2,
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_integer_product, QuantizedProductParameters{});
                  },
                  .missing = &missing_integer_product},
    PlainOperator{.op = {"", "QLinearMatMul", kByteTypes},
                  .operands = 8,
                  .prepare = &prepare_quantized_product,
                  .missing = &missing_quantized_product,
                  .scratch = &product_scratch,
                  .widens_half = true},
};
constexpr std::array kQuantizedProductOperators = operators_of(kQuantizedProductTable);

constexpr std::array kBiasedProductTable{
    PlainOperator{.op = {kOwnDomain, kQuantizedMatMulType, kByteTypes},
                  .operands = 8,
                  .prepare = &prepare_quantized_product,
                  .missing = &missing_biased_product,
                  .scratch = &product_scratch,
                  .widens_half = true},
};
constexpr std::array kBiasedProductOperators = operators_of(kBiasedProductTable);

}  // namespace

Family quantized_product_family() {
  return {.name = "quantized products",
          .operators = kQuantizedProductOperators,
          .offer = [](const OfferInput& input) { return offer_from(kQuantizedProductTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kQuantizedProductTable, input); }};
}

Family biased_product_family() {
  return {.name = "biased products",
          .operators = kBiasedProductOperators,
          .offer = [](const OfferInput& input) { return offer_from(kBiasedProductTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kBiasedProductTable, input); }};
}

}  // namespace lowtide::kernels_internal
