// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/kernels/common/tensor_view.h"
#include "lowtide/kernels/kernel.h"

namespace lowtide::kernels_internal {

// What operators of ai.onnx.ml share: they take the features of each row of a matrix, and give it some scores.

inline constexpr std::string_view kClassicalDomain = "ai.onnx.ml";
inline constexpr std::array kMatrixTypes{DType::f64, DType::f32, DType::i64, DType::i32};

// An operand with one axis is one row.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};
[[nodiscard]] std::optional<Matrix> matrix_of(const BoundTensor& operand);

// Why operand 0 is no matrix, or an empty text.
[[nodiscard]] std::string missing_matrix(const Graph& graph, const Node& node);

// The columns of operand 0; nullopt if only an upper bound is known.
[[nodiscard]] std::optional<std::int64_t> input_columns(const Graph& graph, const Node& node);

// The tensor of a result, or nullptr if it is omitted.
[[nodiscard]] const Tensor* tensor_of_result(const Graph& graph, const Node& node, std::size_t at);

// Errors (invalid): a result is no matrix with as many columns.
[[nodiscard]] Result<void> check_scores(const Tensor* result, std::int64_t scores);

// Errors (invalid): operand 0 does not have this feature.
[[nodiscard]] Result<void> check_feature(const Graph& graph, const Node& node, std::int64_t feature);

// Calls function(const T*) for the elements of an operand of kMatrixTypes.
template <typename Function>
void visit_elements(const BoundTensor& operand, const Function& function) {
  switch (operand.dtype) {
    case DType::f64: return function(elements<double>(operand));
    case DType::i64: return function(elements<std::int64_t>(operand));
    case DType::i32: return function(elements<std::int32_t>(operand));
    default: return function(elements<float>(operand));
  }
}

// Reads some elements of an operand of kMatrixTypes. T is f32 or f64.
template <typename T>
void read_reals(const BoundTensor& operand, std::int64_t begin, std::int64_t count, T* to) {
  visit_elements(operand, [&](const auto* from) {
    std::transform(from + begin, from + begin + count, to, [](auto x) { return static_cast<T>(x); });
  });
}
// Writes some elements of a result of f32 or f64.
void write_reals(const BoundTensor& result, std::int64_t begin, std::span<const double> from);

}  // namespace lowtide::kernels_internal
