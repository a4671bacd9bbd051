// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/linear.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/try.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/classical/lists.h"
#include "lowtide/kernels/plain/classical/matrix.h"
#include "lowtide/kernels/plain/classical/scores.h"

namespace lowtide::kernels_internal {
namespace {

// T: the type of the products.
template <typename T>
struct LinearParameters {
  std::vector<T> coefficients;  // a row per score, and a column per feature
  std::vector<T> intercepts;    // one per score, or none
  PostTransform transform = PostTransform::none;
  std::vector<std::int64_t> labels;
  std::int64_t columns = 0;
  std::int64_t sums = 0;    // rows of `coefficients`
  std::int64_t scores = 0;  // one more if a second class has none of its own
  int threads = 1;
  bool is_classifier = false;
};

// Adds the products in eight sums side by side, which a vector holds.
template <typename T>
T dot_product(const T* x, const T* y, std::int64_t count) {
  constexpr std::int64_t kSums = 8;
  std::array<T, kSums> sums{};
  std::int64_t at = 0;
  for (; at + kSums <= count; at += kSums) {
    for (std::int64_t lane = 0; lane < kSums; ++lane)
      sums[static_cast<std::size_t>(lane)] += x[at + lane] * y[at + lane];
  }
  T rest{0};
  for (; at < count; ++at) rest += x[at] * y[at];
  for (T sum : sums) rest += sum;
  return rest;
}

// Returns the label. With one sum for two classes, the first class gets the opposite score.
template <typename T>
std::int64_t finish_linear(const LinearParameters<T>& of, std::span<double> scores) {
  if (of.scores > of.sums) scores[1] = std::exchange(scores[0], -scores[0]);
  const std::size_t largest = largest_score(scores);
  const bool is_positive = scores[0] > 0;
  transform_scores(of.transform, scores);
  if (!of.is_classifier) return 0;
  return scores.size() == 1 && !is_positive ? 0 : of.labels[largest];
}

template <typename T>
RunStatus run_linear(const LinearParameters<T>& parameters, const Operands& operands, Team& team) {
  const BoundTensor& x = operands.reads[0];
  const std::optional<Matrix> matrix = matrix_of(x);
  if (!matrix || matrix->columns != parameters.columns) return {RunCode::bad_extents, 0};
  const std::size_t result = parameters.is_classifier ? 1 : 0;
  const bool has_scores = has_operand(operands.writes, result);
  const bool has_labels = parameters.is_classifier && has_operand(operands.writes, 0);
  RunStatus status;
  if (has_scores) status = set_extents(operands.writes[result], Extents{matrix->rows, parameters.scores});
  if (status.code == RunCode::ok && has_labels) status = set_extents(operands.writes[0], Extents{matrix->rows});
  if (status.code != RunCode::ok) return status;
  const auto numbers = static_cast<std::size_t>(matrix->columns + parameters.scores);
  const auto products = static_cast<double>(matrix->rows) * static_cast<double>(parameters.coefficients.size());
  const int shares = threads_with_work(parameters.threads, matrix->rows, products);
  const RunCode code = run_shares(team, shares, [&](int share) {
    auto* const own = reinterpret_cast<double*>(operands.scratch) + static_cast<std::size_t>(share) * numbers;
    const std::span<double> scores(own, static_cast<std::size_t>(parameters.scores));
    auto* const row = reinterpret_cast<T*>(own + parameters.scores);
    for (std::int64_t at = matrix->rows * share / shares; at < matrix->rows * (share + 1) / shares; ++at) {
      read_reals(x, at * matrix->columns, matrix->columns, row);
      for (std::int64_t sum = 0; sum < parameters.sums; ++sum) {
        const T product = dot_product<T>(row, parameters.coefficients.data() + sum * matrix->columns, matrix->columns);
        const bool has_intercept = !parameters.intercepts.empty();
        scores[static_cast<std::size_t>(sum)] =
            has_intercept ? product + parameters.intercepts[static_cast<std::size_t>(sum)] : product;
      }
      const std::int64_t label = finish_linear(parameters, scores);
      if (has_labels) mutable_elements<std::int64_t>(operands.writes[0])[at] = label;
      if (has_scores) write_reals(operands.writes[result], at * parameters.scores, scores);
    }
    return RunCode::ok;
  });
  return {code, 0};
}

bool is_linear_classifier(const Graph& graph, const Node& node) {
  return graph.operators()[node.op].type == "LinearClassifier";
}

std::string missing_linear(const Graph& graph, const Node& node) {
  std::string missing = missing_matrix(graph, node);
  if (!missing.empty()) return missing;
  if (!input_columns(graph, node)) return "the number of columns of its input is only known as an upper bound";
  return is_linear_classifier(graph, node) ? missing_labels(graph, node) : "";
}

std::int64_t scores_of_linear(const Graph& graph, const Node& node) {
  if (is_linear_classifier(graph, node))
    return std::max<std::int64_t>(static_cast<std::int64_t>(labels_of(node).size()), 1);
  const Tensor* const result = tensor_of_result(graph, node, 0);  // its only one, so it is there
  return result->shape.rank() == 2 ? result->shape.extents().back() : 1;
}

Bytes bytes_of_row(std::int64_t columns, std::int64_t scores) {
  return Bytes(columns + scores) * static_cast<std::int64_t>(sizeof(double));
}

// A row of the operand, and its scores. A node with fewer coefficients than one of them is refused later.
Bytes linear_scratch(const Graph& graph, const Node& node, int threads) {
  const std::int64_t most = numbers_in(node, "coefficients") + 1;
  const std::int64_t columns = std::min(input_columns(graph, node).value_or(0), most);
  const std::int64_t scores = std::min(scores_of_linear(graph, node), most);
  return bytes_of_row(columns, scores) * threads;
}

Result<void> check_linear(std::int64_t coefficients, std::int64_t intercepts, std::int64_t columns, std::int64_t sums) {
  const bool has_all = columns > 0 && coefficients % columns == 0 && coefficients / columns == sums;
  if (!has_all) {
    return Error{ErrorCode::invalid,
                 "attribute 'coefficients' has " + with_count(coefficients, "number") + ", which are not " +
                     std::to_string(sums) + " x " + std::to_string(columns) + " for the scores and the features",
                 ""};
  }
  if (intercepts <= 1 || intercepts == sums) return {};
  return Error{ErrorCode::invalid,
               "attribute 'intercepts' has " + with_count(intercepts, "number") + " for " + with_count(sums, "score"),
               ""};
}

template <typename T>
PreparedResult prepare_linear_as(const PrepareInput& input) {
  const Node& node = node_of(input);
  LinearParameters<T> of;
  of.is_classifier = is_linear_classifier(input.graph, node);
  of.threads = input.threads;
  of.columns = *input_columns(input.graph, node);
  of.scores = scores_of_linear(input.graph, node);
  of.labels = of.is_classifier ? labels_of(node) : of.labels;
  LOWTIDE_TRY(const auto coefficients, reals_in(node, "coefficients"));
  LOWTIDE_TRY(const auto intercepts, reals_in(node, "intercepts"));
  LOWTIDE_TRY(of.transform, post_transform_of(node));
  const auto count = static_cast<std::int64_t>(coefficients.size());
  of.sums = of.is_classifier && of.scores == 2 && count == of.columns ? 1 : of.scores;
  LOWTIDE_RETURN_IF_ERROR(check_linear(count, static_cast<std::int64_t>(intercepts.size()), of.columns, of.sums));
  LOWTIDE_RETURN_IF_ERROR(check_scores(tensor_of_result(input.graph, node, of.is_classifier ? 1 : 0), of.scores));
  LOWTIDE_RETURN_IF_ERROR(check_scratch(bytes_of_row(of.columns, of.scores), linear_scratch(input.graph, node, 1)));
  of.coefficients.assign(coefficients.begin(), coefficients.end());
  of.intercepts.assign(intercepts.begin(), intercepts.end());
  if (of.intercepts.size() == 1) of.intercepts.resize(static_cast<std::size_t>(of.sums), of.intercepts.front());
  return plain_kernel(input, &run_linear<T>, std::move(of));
}

PreparedResult prepare_linear(const PrepareInput& input) {
  const bool is_f64 = computed_type(input.graph, node_of(input), 0) == DType::f64;
  return is_f64 ? prepare_linear_as<double>(input) : prepare_linear_as<float>(input);
}

constexpr PlainOperator linear_operator(std::string_view type) {
  return {.op = {kClassicalDomain, type, kMatrixTypes},
          .prepare = &prepare_linear,
          .missing = &missing_linear,
          .scratch = &linear_scratch,
          .may_omit_result = true};
}
constexpr std::array kLinearTable{linear_operator("LinearClassifier"), linear_operator("LinearRegressor")};
constexpr std::array kLinearOperators = operators_of(kLinearTable);

}  // namespace

Family linear_family() {
  return {.name = "linear",
          .operators = kLinearOperators,
          .offer = [](const OfferInput& input) { return offer_from(kLinearTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kLinearTable, input); }};
}

}  // namespace lowtide::kernels_internal
