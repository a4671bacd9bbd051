// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/repetition.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

// The axes of a tensor before its last two, which are those of a matrix.
Shape batches_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

// A matrix of rows and columns, the second of which may be stored as the rows.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;
};

Matrix matrix_of(const Shape& shape, bool is_transposed) {
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t columns = shape.back();
  if (is_transposed) return {.rows = columns, .columns = rows, .row_step = 1, .column_step = columns};
  return {.rows = rows, .columns = columns, .row_step = columns, .column_step = 1};
}

Result<void> add_float_batch_product(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32, float32}, float32}}));
  const Shape& first = context.input(0).shape;
  const Shape& second = context.input(1).shape;
  const Shape& output = context.output().shape;
  if (std::min({first.size(), second.size(), output.size()}) < 2) {
    return context.invalid("its operands and its output need at least 2 axes each");
  }
  const Matrix a = matrix_of(first, context.option("adj_x") != 0);
  const Matrix b = matrix_of(second, context.option("adj_y") != 0);
  if (a.columns != b.rows || output[output.size() - 2] != a.rows || output.back() != b.columns) {
    return context.invalid("operands " + shape_text(first) + " and " + shape_text(second) + " do not give output " +
                           shape_text(output));
  }
  LOWTIDE_TRY(const Repetition batches,
              repetition_of(context, batches_of(first), batches_of(second), batches_of(output)));
  if (batches.counts[0] * batches.counts[1] != 1) {
    return context.unsupported("its operands are repeated along too many axes that are apart; reshape them first");
  }
  const std::int64_t a_size = a.rows * a.columns;
  const std::int64_t b_size = b.rows * b.columns;
  context.call("matmul_f32",
               {parameter("batches", {batches.counts[2], batches.counts[3]}),
                parameter("a_batch_steps", {batches.first_steps[2] * a_size, batches.first_steps[3] * a_size}),
                parameter("b_batch_steps", {batches.second_steps[2] * b_size, batches.second_steps[3] * b_size}),
                parameter("rows", a.rows), parameter("inner", a.columns), parameter("columns", b.columns),
                parameter("a_row_step", a.row_step), parameter("a_inner_step", a.column_step),
                parameter("b_inner_step", b.row_step), parameter("b_column_step", b.column_step),
                parameter("addend_row_step", 0), parameter("addend_column_step", 0), CParameter{"alpha", 1.0F},
                CParameter{"beta", 1.0F}},
               {context.in(0), context.in(1), COperand(), context.out()});
  return {};
}

// A comparison as one of a kernel, with operands that are exchanged, or with the opposite result.
struct Comparison {
  std::string_view type;
  std::string_view kernel;
  bool is_exchanged = false;
  bool is_negated = false;
};
constexpr auto kComparisons = std::to_array<Comparison>({{"EQUAL", "equal_"},
                                                         {"GREATER", "less_", true},
                                                         {"GREATER_EQUAL", "less_or_equal_", true},
                                                         {"LESS", "less_"},
                                                         {"LESS_EQUAL", "less_or_equal_"},
                                                         {"NOT_EQUAL", "equal_", false, true}});

Result<void> add_comparison(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32, float32}, boolean}, {{int64, int64}, boolean}}));
  const Comparison& how = *std::ranges::find(kComparisons, context.type(), &Comparison::type);
  LOWTIDE_TRY(Repetition repetition, repetition_of(context));
  if (how.is_exchanged) std::swap(repetition.first_steps, repetition.second_steps);
  const std::string kernel = std::string(how.kernel) + (context.input(0).type == float32 ? "f32" : "i64");
  context.call(kernel,
               {parameter("counts", repetition.counts), parameter("x_steps", repetition.first_steps),
                parameter("y_steps", repetition.second_steps)},
               {context.in(how.is_exchanged ? 1 : 0), context.in(how.is_exchanged ? 0 : 1), context.out()});
  if (how.is_negated) {
    context.call("not_u8", {parameter("count", elements_of(context.output().shape))}, {context.out(), context.out()});
  }
  return {};
}

}  // namespace

std::vector<OperatorRow> float_product_rows() {
  std::vector<OperatorRow> rows = {{"BATCH_MATMUL", 2, 1, &add_float_batch_product, {float32}}};
  for (const Comparison& one : kComparisons) rows.push_back({one.type, 2, 1, &add_comparison, {float32, int64}});
  return rows;
}

}  // namespace lowtide::tflite_program_internal
