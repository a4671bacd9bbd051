// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/products/products.h"

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "lowtide/graph/operand_types.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/matmul_shapes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/plain/products/dot.h"
#include "lowtide/kernels/plain/products/row_dots.h"
#include "lowtide/kernels/plain/products/row_tile.h"

namespace lowtide::kernels_internal {
namespace {

// The extents of a product, and the strides of its operands in elements. The result is dense.
struct PlainProduct {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  std::int64_t a_row = 0;
  std::int64_t a_inner = 1;
  std::int64_t b_inner = 0;
  std::int64_t b_column = 1;
};

// sums[i] += factor * from[i]
template <typename T>
LOWTIDE_VECTOR_CLONES void add_multiple(T factor, const T* from, T* sums, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) sums[at] += factor * from[at];
}

// The columns of b are contiguous: adds multiples of rows of b to rows of the result, in blocks that fit a cache.
template <typename T>
void multiply_by_rows(const PlainProduct& product, const T* a, const T* b, T* c) {
  constexpr std::int64_t kBlock = 256;
  std::fill_n(c, product.rows * product.columns, T{0});
  for (std::int64_t first = 0; first < product.columns; first += kBlock) {
    const std::int64_t columns = std::min(kBlock, product.columns - first);
    for (std::int64_t begin = 0; begin < product.inner; begin += kBlock) {
      const std::int64_t end = std::min(begin + kBlock, product.inner);
      for (std::int64_t row = 0; row < product.rows; ++row) {
        T* sums = c + row * product.columns + first;
        for (std::int64_t at = begin; at < end; ++at) {
          add_multiple(a[row * product.a_row + at * product.a_inner], b + at * product.b_inner + first, sums, columns);
        }
      }
    }
  }
}

// All rows use some columns before the next columns come from memory.
void multiply_by_tiles(const PlainProduct& product, const float* a, const float* b, float* c) {
  for (std::int64_t first = 0; first < product.columns; first += kTileColumns) {
    for (std::int64_t row = 0; row < product.rows; row += kMostTileRows) {
      run_row_tile({.factors = a + row * product.a_row,
                    .factor_step = product.a_row,
                    .factor_channel = product.a_inner,
                    .source = b + first,
                    .source_channel = product.b_inner,
                    .channels = product.inner,
                    .result = c + row * product.columns + first,
                    .result_step = product.columns,
                    .rows = std::min(product.rows - row, kMostTileRows),
                    .columns = std::min(product.columns - first, kTileColumns)});
    }
  }
}

template <typename T>
void multiply_alone(const PlainProduct& product, const T* a, const T* b, T* c) {
  if (product.b_column == 1 && product.columns > 1) {
    if constexpr (std::is_same_v<T, float>) return multiply_by_tiles(product, a, b, c);
    return multiply_by_rows(product, a, b, c);
  }
  for (std::int64_t row = 0; row < product.rows; ++row) {
    for (std::int64_t column = 0; column < product.columns; ++column) {
      const T* x = a + row * product.a_row;
      const T* y = b + column * product.b_column;
      T sum{0};
      if (product.a_inner == 1 && product.b_inner == 1) {
        sum = dot(x, y, product.inner);
      } else {
        for (std::int64_t at = 0; at < product.inner; ++at) sum += x[at * product.a_inner] * y[at * product.b_inner];
      }
      c[row * product.columns + column] = sum;
    }
  }
}

constexpr std::int64_t kRowsAtOnce = 4;  // that share what is read of b

// The rows of a and the columns of b are contiguous.
void multiply_by_dots(const PlainProduct& product, const float* a, const float* b, float* c, Team& team) {
  std::array<DotColumn, kRowsAtOnce> rows;
  for (std::int64_t first = 0; first < product.rows; first += kRowsAtOnce) {
    const std::int64_t count = std::min(product.rows - first, kRowsAtOnce);
    for (std::int64_t row = 0; row < count; ++row) {
      rows[static_cast<std::size_t>(row)] = {a + (first + row) * product.a_row, c + (first + row) * product.columns};
    }
    write_dots({.elements = b, .inner = product.inner, .rows = {0, product.columns}},
               std::span(rows).first(static_cast<std::size_t>(count)), team);
  }
}

// Each part has some rows of the result.
template <typename T>
void multiply(const PlainProduct& product, const T* a, const T* b, T* c, Team& team) {
  if constexpr (std::is_same_v<T, float>) {
    const bool has_dots = product.a_inner == 1 && product.b_inner == 1 && product.b_column == product.inner;
    if (has_dots) return multiply_by_dots(product, a, b, c, team);
  }
  const std::int64_t operations = product.rows * product.inner * product.columns;
  run_in_parts(team, product.rows, operations, [&](std::int64_t begin, std::int64_t end) {
    PlainProduct part = product;
    part.rows = end - begin;
    multiply_alone(part, a + begin * product.a_row, b, c + begin * product.columns);
    return RunCode::ok;
  });
}

struct MatMulParameters {};

template <typename T>
void multiply_matrices(const MatMulShapes& shapes, const Operands& operands, Team& team) {
  const int a_rank = shapes.a.rank();
  const int b_rank = shapes.b.rank();
  PlainProduct product{.rows = shapes.a[a_rank - 2], .inner = shapes.a[a_rank - 1], .columns = shapes.b[b_rank - 1]};
  product.a_row = product.inner;
  product.b_inner = product.columns;
  const int batch = std::max(a_rank, b_rank) - 2;
  // One matrix is multiplied by all matrices of a: a single product with more rows.
  if (shapes.b.count() == product.inner * product.columns && a_rank >= b_rank) {
    product.rows = shapes.a.product(0, a_rank - 1);
    return multiply(product, elements<T>(operands.reads[0]), elements<T>(operands.reads[1]),
                    mutable_elements<T>(operands.writes[0]), team);
  }
  for (std::int64_t at = 0; at < shapes.result.product(0, batch); ++at) {
    const std::int64_t a = matrix_of(shapes.a, shapes.result, batch, at) * product.rows * product.inner;
    const std::int64_t b = matrix_of(shapes.b, shapes.result, batch, at) * product.inner * product.columns;
    multiply(product, elements<T>(operands.reads[0]) + a, elements<T>(operands.reads[1]) + b,
             mutable_elements<T>(operands.writes[0]) + at * product.rows * product.columns, team);
  }
}

RunStatus run_matmul(const MatMulParameters& /*parameters*/, const Operands& operands, Team& team) {
  const std::optional<MatMulShapes> shapes = matmul_shapes(operands.reads[0], operands.reads[1]);
  if (!shapes) return {RunCode::bad_extents, 1};
  if (const RunStatus status = set_extents(operands.writes[0], shapes->result); status.code != RunCode::ok) {
    return status;
  }
  switch (operands.writes[0].dtype) {
    case DType::f64: multiply_matrices<double>(*shapes, operands, team); break;
    case DType::f32: multiply_matrices<float>(*shapes, operands, team); break;
    case DType::i64:
    case DType::u64: multiply_matrices<std::uint64_t>(*shapes, operands, team); break;
    default: multiply_matrices<std::uint32_t>(*shapes, operands, team); break;
  }
  return {};
}

struct GemmParameters {
  float alpha = 1;
  float beta = 1;
  bool transposes_a = false;
  bool transposes_b = false;
};

template <typename T>
void add_bias(const GemmParameters& parameters, const PlainProduct& product, const Operands& operands) {
  // A bias times 0 is not read: it may be infinite.
  const bool has_bias = has_operand(operands.reads, 2) && parameters.beta != 0;
  const T* bias = has_bias ? elements<T>(operands.reads[2]) : nullptr;
  Extents extents{1, 1};  // of the bias, with two axes
  if (has_bias) {
    const std::span<const std::int64_t> given = extents_of(operands.reads[2]);
    for (std::size_t at = 0; at < given.size(); ++at) extents[static_cast<int>(2 - given.size() + at)] = given[at];
  }
  const auto alpha = static_cast<T>(parameters.alpha);
  const auto beta = static_cast<T>(parameters.beta);
  T* y = mutable_elements<T>(operands.writes[0]);
  for (std::int64_t row = 0; row < product.rows; ++row) {
    for (std::int64_t column = 0; column < product.columns; ++column, ++y) {
      *y *= alpha;
      if (!has_bias) continue;
      const std::int64_t from_row = extents[0] == 1 ? 0 : row * extents[1];
      *y += beta * bias[from_row + (extents[1] == 1 ? 0 : column)];
    }
  }
}

template <typename T>
void gemm(const GemmParameters& parameters, const PlainProduct& product, const Operands& operands, Team& team) {
  multiply(product, elements<T>(operands.reads[0]), elements<T>(operands.reads[1]),
           mutable_elements<T>(operands.writes[0]), team);
  add_bias<T>(parameters, product, operands);
}

RunStatus run_gemm(const GemmParameters& parameters, const Operands& operands, Team& team) {
  const Extents a(extents_of(operands.reads[0]));
  const Extents b(extents_of(operands.reads[1]));
  if (a.rank() != 2 || b.rank() != 2) return {RunCode::bad_extents, 0};
  PlainProduct product{.rows = a[0], .inner = a[1], .columns = b[1], .a_row = a[1], .b_inner = b[1]};
  if (parameters.transposes_a) {
    product.rows = a[1];
    product.inner = a[0];
    product.a_row = 1;
    product.a_inner = a[1];
  }
  if (parameters.transposes_b) {
    product.columns = b[0];
    product.b_inner = 1;
    product.b_column = b[1];
  }
  if (product.inner != (parameters.transposes_b ? b[1] : b[0])) return {RunCode::bad_extents, 1};
  if (has_operand(operands.reads, 2)) {
    const Extents c(extents_of(operands.reads[2]));
    const bool fits = c.rank() <= 2 && (c.rank() < 1 || c[c.rank() - 1] == 1 || c[c.rank() - 1] == product.columns) &&
                      (c.rank() < 2 || c[0] == 1 || c[0] == product.rows);
    if (!fits) return {RunCode::bad_extents, 2};
  }
  const RunStatus status = set_extents(operands.writes[0], Extents{product.rows, product.columns});
  if (status.code != RunCode::ok) return status;
  switch (operands.writes[0].dtype) {
    case DType::f64: gemm<double>(parameters, product, operands, team); break;
    case DType::f32: gemm<float>(parameters, product, operands, team); break;
    case DType::i64:
    case DType::u64: gemm<std::uint64_t>(parameters, product, operands, team); break;
    default: gemm<std::uint32_t>(parameters, product, operands, team); break;
  }
  return {};
}

std::string missing_product(const Graph& graph, const Node& node) {
  const DType dtype = graph.tensor(*node.outputs[0]).dtype;
  const bool is_equal =
      std::ranges::all_of(node.inputs, [&](const auto& id) { return !id || graph.tensor(*id).dtype == dtype; });
  return is_equal ? "" : "the operands have different types";
}

// alpha and beta of integers are integers.
std::string missing_gemm(const Graph& graph, const Node& node) {
  const bool is_float = is_real(graph.tensor(*node.outputs[0]).dtype);
  const auto is_whole = [&](const char* name) {
    const double number = number_attribute(node, name, 1);
    return number >= 0 && number <= 1e6 && number == static_cast<double>(static_cast<std::int64_t>(number));
  };
  if (!is_float && (!is_whole("alpha") || !is_whole("beta"))) return "alpha and beta must be integers for integers";
  return missing_product(graph, node);
}

PreparedResult prepare_gemm(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(
      input, &run_gemm,
      GemmParameters{static_cast<float>(number_attribute(node, "alpha", 1)),
                     static_cast<float>(number_attribute(node, "beta", 1)), integer_attribute(node, "transA", 0) != 0,
                     integer_attribute(node, "transB", 0) != 0});
}

constexpr std::array kProductTypes{DType::f64, DType::f32, DType::f16, DType::bf16,
                                   DType::i64, DType::i32, DType::u64, DType::u32};

// Sorted by type.
constexpr std::array kProductTable{
    PlainOperator{.op = {"", "Gemm", kProductTypes},
                  .operands = 2,
                  .prepare = &prepare_gemm,
                  .missing = &missing_gemm,
                  .widens_half = true},
    PlainOperator{.op = {"", "MatMul", kProductTypes},
                  .operands = 2,
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_matmul, MatMulParameters{});
                  },
                  .missing = &missing_product,
                  .widens_half = true},
};
constexpr std::array kProductOperators = operators_of(kProductTable);

}  // namespace

Family products_family() {
  return {.name = "products",
          .operators = kProductOperators,
          .offer = [](const OfferInput& input) { return offer_from(kProductTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kProductTable, input); }};
}

}  // namespace lowtide::kernels_internal
