// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/matrix.h"

#include <algorithm>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"

namespace lowtide::kernels_internal {

std::optional<Matrix> matrix_of(const BoundTensor& operand) {
  if (operand.rank == 1) return Matrix{1, operand.extents[0]};
  if (operand.rank == 2) return Matrix{operand.extents[0], operand.extents[1]};
  return std::nullopt;
}

std::string missing_matrix(const Graph& graph, const Node& node) {
  const Tensor& tensor = graph.tensor(*node.inputs[0]);
  const int rank = tensor.shape.rank();
  if (rank == 1 || rank == 2) return "";
  return "input " + quoted(tensor.name) + " has " + with_count(rank, "axis") + ", and kernels have a matrix or one row";
}

std::optional<std::int64_t> input_columns(const Graph& graph, const Node& node) {
  const Shape& shape = graph.tensor(*node.inputs[0]).shape;
  if (shape.rank() == 0 || shape.has_upper_bounds()) return std::nullopt;
  return shape.extents().back();
}

const Tensor* tensor_of_result(const Graph& graph, const Node& node, std::size_t at) {
  return at < node.outputs.size() && node.outputs[at] ? &graph.tensor(*node.outputs[at]) : nullptr;
}

Result<void> check_scores(const Tensor* result, std::int64_t scores) {
  if (result == nullptr) return {};
  const bool is_matrix = result->shape.rank() == 2;
  const std::int64_t columns = is_matrix ? result->shape.extents().back() : 0;
  if (is_matrix && columns == scores) return {};
  return Error{ErrorCode::invalid,
               "output " + quoted(result->name) + " has " +
                   (is_matrix ? with_count(columns, "column") : with_count(result->shape.rank(), "axis")) +
                   ", and the attributes make a matrix with " + with_count(scores, "column"),
               ""};
}

Result<void> check_feature(const Graph& graph, const Node& node, std::int64_t feature) {
  const std::optional<std::int64_t> columns = input_columns(graph, node);
  if (!columns || feature < *columns) return {};
  return Error{ErrorCode::invalid,
               "feature " + std::to_string(feature) + " is used, but input " +
                   quoted(graph.tensor(*node.inputs[0]).name) + " has " + with_count(*columns, "column"),
               ""};
}

void write_reals(const BoundTensor& result, std::int64_t begin, std::span<const double> from) {
  if (result.dtype == DType::f64) {
    std::ranges::copy(from, mutable_elements<double>(result) + begin);
  } else {
    std::ranges::transform(from, mutable_elements<float>(result) + begin,
                           [](double x) { return static_cast<float>(x); });
  }
}

}  // namespace lowtide::kernels_internal
