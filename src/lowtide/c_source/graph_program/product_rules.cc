// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/axes.h"
#include "lowtide/c_source/graph_program/rules.h"
#include "lowtide/c_source/graph_program/windows.h"

namespace lowtide::graph_program_internal {
namespace {

Extents spatial(const Extents& weights) { return {weights.begin() + 2, weights.end()}; }

// A window of one tap without strides and padding reads a plane as one row.
void merge_rows(Window& window) {
  for (const WindowAxis& axis : window.axes) {
    if (axis.window != 1 || axis.stride != 1 || axis.begin != 0 || axis.input != axis.output) return;
  }
  const std::int64_t count = window.axes[0].input * window.axes[1].input;
  window.axes = {WindowAxis{}, WindowAxis{.input = count, .output = count}};
}

Result<NodeCalls> conv(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1, 2}));
  const Extents& weights = node.input_shape(1);
  const std::int64_t groups = node.integer("group", 1);
  if (weights.size() < 3 || groups < 1) return missing("its weights have no spatial axis");
  LOWTIDE_TRY(Window window, window_of(node, spatial(weights)));
  merge_rows(window);
  Parameters parameters;
  parameters.add("batches", node.input_shape(0)[0])
      .add("groups", groups)
      .add("input_channels", weights[1])
      .add("output_channels", weights[0] / groups);
  add_window(window, parameters);
  parameters.add(std::string(kLimits), 0).add_float("minimum", 0).add_float("maximum", 0);
  return NodeCalls{{{"conv_2d_f32", parameters.take(), {InputAt{0}, InputAt{1}, input_or_null(node, 2), OutputAt{0}}}}};
}

Result<NodeCalls> conv_transpose(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1, 2}));
  const Extents& weights = node.input_shape(1);
  const std::int64_t groups = node.integer("group", 1);
  if (weights.size() < 3 || groups < 1) return missing("its weights have no spatial axis");
  LOWTIDE_TRY(const Window window, transposed_window_of(node, spatial(weights)));
  Parameters parameters;
  parameters.add("batches", node.input_shape(0)[0])
      .add("groups", groups)
      .add("input_channels", weights[0] / groups)
      .add("output_channels", weights[1]);
  add_window(window, parameters);
  return NodeCalls{
      {{"conv_transpose_2d_f32", parameters.take(), {InputAt{0}, InputAt{1}, input_or_null(node, 2), OutputAt{0}}}}};
}

// A product of matrices. Steps are in elements.
struct Product {
  std::int64_t rows = 1;
  std::int64_t inner = 1;
  std::int64_t columns = 1;
  Extents a_steps = {0, 0};  // of rows, of inner
  Extents b_steps = {0, 0};  // of inner, of columns
  Loops batch = {{}, {{}, {}}};
  Extents addend_steps = {0, 0};  // of rows, of columns
  float alpha = 1;
  float beta = 1;
};

Result<NodeCalls> product_calls(const Product& product, NodeOperand b, NodeOperand addend, NodeCalls calls = {}) {
  const std::optional<Loops> batch = with_axes(merged(product.batch), 2);
  if (!batch) return missing("matrices are broadcast along more than 2 axes");
  Parameters parameters;
  parameters.add("batches", batch->counts)
      .add("a_batch_steps", batch->steps[0])
      .add("b_batch_steps", batch->steps[1])
      .add("rows", product.rows)
      .add("inner", product.inner)
      .add("columns", product.columns)
      .add("a_row_step", product.a_steps[0])
      .add("a_inner_step", product.a_steps[1])
      .add("b_inner_step", product.b_steps[0])
      .add("b_column_step", product.b_steps[1])
      .add("addend_row_step", product.addend_steps[0])
      .add("addend_column_step", product.addend_steps[1])
      .add_float("alpha", product.alpha)
      .add_float("beta", product.beta);
  calls.calls.push_back({"matmul_f32", parameters.take(), {InputAt{0}, b, addend, OutputAt{0}}});
  return calls;
}

// The batch axes of an operand, whose last `used` axes are a matrix, as steps along those of the result.
Extents batch_steps(const Extents& operand, std::size_t used, const Extents& batch) {
  const Extents dense = dense_steps(operand);
  Extents steps(batch.size(), 0);
  if (operand.size() <= used) return steps;
  const std::size_t axes = operand.size() - used;
  for (std::size_t at = 0; at < axes; ++at) {
    if (operand[at] != 1) steps[batch.size() - axes + at] = dense[at];
  }
  return steps;
}

Result<NodeCalls> matmul(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1}));
  const Extents& a = node.input_shape(0);
  const Extents& b = node.input_shape(1);
  if (a.empty() || b.empty()) return missing("an operand is a scalar");
  const std::size_t a_used = a.size() == 1 ? 1 : 2;
  const std::size_t b_used = b.size() == 1 ? 1 : 2;
  Product made;
  made.inner = a.back();
  made.rows = a_used == 2 ? a[a.size() - 2] : 1;
  made.columns = b_used == 2 ? b.back() : 1;
  made.a_steps = {made.inner, 1};
  made.b_steps = {made.columns, 1};
  const std::size_t matrix = (a_used - 1) + (b_used - 1);
  const Extents& result = node.output_shape(0);
  made.batch.counts = {result.begin(), result.end() - static_cast<std::ptrdiff_t>(matrix)};
  made.batch.steps = {batch_steps(a, a_used, made.batch.counts), batch_steps(b, b_used, made.batch.counts)};
  // One matrix for all rows of a batch makes one product of them.
  const bool has_one_b =
      product(b) == made.inner * made.columns && product(a) == product(made.batch.counts) * made.rows * made.inner;
  if (has_one_b) {
    made.rows *= product(made.batch.counts);
    made.batch = {{}, {{}, {}}};
  }
  return product_calls(made, InputAt{1}, {});
}

// [columns, inner] as [inner, columns], whose columns lie next to each other.
std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t columns, std::int64_t inner) {
  std::vector<float> result(matrix.size());
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t at = 0; at < inner; ++at) {
      result[static_cast<std::size_t>(at * columns + column)] = matrix[static_cast<std::size_t>(column * inner + at)];
    }
  }
  return result;
}

Result<NodeCalls> gemm(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1, 2}));
  const Extents& a = node.input_shape(0);
  const Extents& b = node.input_shape(1);
  if (a.size() != 2 || b.size() != 2) return missing("an operand is not a matrix");
  const bool transposes_a = node.integer("transA", 0) != 0;
  const bool transposes_b = node.integer("transB", 0) != 0;
  Product made;
  made.rows = a[transposes_a ? 1 : 0];
  made.inner = a[transposes_a ? 0 : 1];
  made.columns = b[transposes_b ? 0 : 1];
  made.a_steps = transposes_a ? Extents{1, a[1]} : Extents{a[1], 1};
  made.b_steps = transposes_b ? Extents{1, b[1]} : Extents{b[1], 1};
  made.alpha = node.number("alpha", 1);
  made.beta = node.number("beta", 1);
  NodeCalls calls;
  NodeOperand second = InputAt{1};
  if (transposes_b) {
    if (const std::optional<std::vector<float>> content = node.constant_floats(1)) {
      second = calls.add(node.input(1).name + " transposed", transposed(*content, b[0], b[1]));
      made.b_steps = {made.columns, 1};
    }
  }
  // An addend times 0 is not read: it may be infinite.
  if (!node.has_input(2) || made.beta == 0) return product_calls(made, second, {}, std::move(calls));
  made.addend_steps = broadcast_steps(node.input_shape(2), node.output_shape(0));
  return product_calls(made, second, InputAt{2}, std::move(calls));
}

constexpr auto kProductRules = std::to_array<Rule>({
    {"Conv", &conv},
    {"ConvTranspose", &conv_transpose},
    {"Gemm", &gemm},
    {"MatMul", &matmul},
});

}  // namespace

std::span<const Rule> product_rules() { return kProductRules; }

}  // namespace lowtide::graph_program_internal
