// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/tflite/tflite_program/operator_context.h"

namespace lowtide::tflite_program_internal {

// An operator for some element types, and what makes its calls.
struct OperatorRow {
  std::string_view type;
  std::size_t inputs = 1;  // those that must be there
  std::size_t outputs = 1;
  Result<void> (*add_calls)(OperatorContext& context);
  std::vector<TfliteType> elements = {TfliteType::int8};  // of the deciding input; empty: all types of programs
  std::size_t deciding = 0;                               // an input that must be there
  bool is_custom = false;                                 // whether `type` is the name of a custom operator
};

[[nodiscard]] std::vector<OperatorRow> convolution_rows();        // and FULLY_CONNECTED
[[nodiscard]] std::vector<OperatorRow> binary_rows();             // two operands, element by element
[[nodiscard]] std::vector<OperatorRow> lookup_rows();             // one operand, element by element
[[nodiscard]] std::vector<OperatorRow> float_convolution_rows();  // on f32, as the next ones
[[nodiscard]] std::vector<OperatorRow> float_element_rows();
[[nodiscard]] std::vector<OperatorRow> float_product_rows();    // of matrices, and comparisons
[[nodiscard]] std::vector<OperatorRow> float_reduction_rows();  // and operators on rows, such as SOFTMAX
[[nodiscard]] std::vector<OperatorRow> float_window_rows();     // pools and interpolation
[[nodiscard]] std::vector<OperatorRow> movement_rows();         // parts of tensors, padding, transposes
[[nodiscard]] std::vector<OperatorRow> rearrangement_rows();    // elements that get other places
[[nodiscard]] std::vector<OperatorRow> reduction_rows();
[[nodiscard]] std::vector<OperatorRow> resize_rows();
[[nodiscard]] std::vector<OperatorRow> memory_rows();  // states
[[nodiscard]] std::vector<OperatorRow> pool_rows();
[[nodiscard]] std::vector<OperatorRow> shape_rows();  // copies
[[nodiscard]] std::vector<OperatorRow> softmax_rows();

}  // namespace lowtide::tflite_program_internal
