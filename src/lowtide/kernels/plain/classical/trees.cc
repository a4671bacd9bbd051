// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/classical/matrix.h"
#include "lowtide/kernels/plain/classical/packed_trees.h"
#include "lowtide/kernels/plain/classical/tree_scores.h"

namespace lowtide::kernels_internal {
namespace {

template <typename T>
struct TreeParameters {
  PackedTrees<T> trees;
  TreeScores scores;
  int threads = 1;
  bool is_classifier = false;
};

// Rows that go through all trees together. Their sums are in scratch, with those of one more row, which is finished.
std::int64_t rows_of_block(std::int64_t targets) { return std::clamp<std::int64_t>(4096 / targets, kTreeLanes, 128); }
std::int64_t numbers_of_share(std::int64_t targets) { return (rows_of_block(targets) + 1) * targets; }

// The rows of a run.
template <typename X, typename T>
class TreeRows {
 public:
  TreeRows(const TreeParameters<T>& parameters, const Matrix& matrix, const Operands& operands)
      : parameters_(parameters), trees_(parameters.trees), matrix_(matrix), operands_(operands) {}

  void run(std::int64_t begin, std::int64_t end, std::byte* scratch) const {
    const std::int64_t block = rows_of_block(trees_.targets);
    auto* const finished = reinterpret_cast<double*>(scratch);
    auto* const sums = reinterpret_cast<T*>(finished + trees_.targets);
    for (std::int64_t first = begin; first < end; first += block) {
      const std::int64_t count = std::min(block, end - first);
      const bool is_extreme =
          parameters_.scores.aggregate == TreeAggregate::min || parameters_.scores.aggregate == TreeAggregate::max;
      std::fill_n(sums, count * trees_.targets, is_extreme ? std::numeric_limits<T>::quiet_NaN() : T{0});
      const std::int64_t grouped = count - count % kTreeLanes;
      for (std::int32_t root : trees_.roots) {
        for (std::int64_t row = 0; row < grouped; row += kTreeLanes) add_rows(root, first, row, sums);
      }
      for (std::int64_t row = grouped; row < count; ++row) add_trees(row_of(first + row), sums + row * trees_.targets);
      for (std::int64_t row = 0; row < count; ++row) {
        finish(first + row, sums + row * trees_.targets, {finished, static_cast<std::size_t>(trees_.targets)});
      }
    }
  }

 private:
  [[nodiscard]] const X* row_of(std::int64_t row) const {
    return elements<X>(operands_.reads[0]) + row * matrix_.columns;
  }

  // One tree, and a row in each lane.
  void add_rows(std::int32_t root, std::int64_t first, std::int64_t row, T* sums) const {
    std::array<const X*, kTreeLanes> rows{};
    std::array<std::int32_t, kTreeLanes> nodes{};
    nodes.fill(root);
    for (int lane = 0; lane < kTreeLanes; ++lane) rows[static_cast<std::size_t>(lane)] = row_of(first + row + lane);
    follow_lanes(trees_, rows, nodes);
    for (int lane = 0; lane < kTreeLanes; ++lane) {
      add(nodes[static_cast<std::size_t>(lane)], sums + (row + lane) * trees_.targets);
    }
  }

  // One row, and a tree in each lane.
  void add_trees(const X* row, T* sums) const {
    std::array<const X*, kTreeLanes> rows{};
    rows.fill(row);
    for (std::size_t tree = 0; tree < trees_.roots.size(); tree += kTreeLanes) {
      const std::size_t count = std::min<std::size_t>(kTreeLanes, trees_.roots.size() - tree);
      std::array<std::int32_t, kTreeLanes> nodes{};
      for (std::size_t lane = 0; lane < nodes.size(); ++lane) {
        nodes[lane] = trees_.roots[tree + std::min(lane, count - 1)];
      }
      follow_lanes(trees_, rows, nodes);
      for (std::size_t lane = 0; lane < count; ++lane) add(nodes[lane], sums);
    }
  }

  void add(std::int32_t leaf, T* sums) const {
    const auto at = static_cast<std::size_t>(leaf);
    for (std::int32_t next = trees_.weights_begin[at]; next < trees_.weights_begin[at + 1]; ++next) {
      const auto& [target, weight] = trees_.weights[static_cast<std::size_t>(next)];
      T& sum = sums[target];
      switch (parameters_.scores.aggregate) {
        case TreeAggregate::average:
        case TreeAggregate::sum: sum += weight; break;
        case TreeAggregate::min: sum = std::isnan(sum) || weight < sum ? weight : sum; break;
        case TreeAggregate::max: sum = std::isnan(sum) || weight > sum ? weight : sum; break;
      }
    }
  }

  void finish(std::int64_t row, const T* sums, std::span<double> scores) const {
    std::copy_n(sums, scores.size(), scores.begin());
    const std::int64_t label = finish_scores(parameters_.scores, scores);
    const std::size_t at = parameters_.is_classifier ? 1 : 0;
    if (parameters_.is_classifier && has_operand(operands_.writes, 0)) {
      mutable_elements<std::int64_t>(operands_.writes[0])[row] = label;
    }
    if (has_operand(operands_.writes, at)) write_reals(operands_.writes[at], row * trees_.targets, scores);
  }

  const TreeParameters<T>& parameters_;
  const PackedTrees<T>& trees_;
  Matrix matrix_;
  const Operands& operands_;
};

template <typename X, typename T>
RunStatus run_trees(const TreeParameters<T>& parameters, const Operands& operands, Team& team) {
  const std::optional<Matrix> matrix = matrix_of(operands.reads[0]);
  if (!matrix) return {RunCode::bad_extents, 0};
  const PackedTrees<T>& trees = parameters.trees;
  if (matrix->rows > 0 && matrix->columns <= std::max<std::int64_t>(trees.most_feature, 0)) {
    return {RunCode::index_out_of_range, 0};
  }
  const std::size_t scores = parameters.is_classifier ? 1 : 0;
  const auto has = [&](std::size_t at) { return has_operand(operands.writes, at); };
  if (has(scores)) {
    const RunStatus status = set_extents(operands.writes[scores], Extents{matrix->rows, trees.targets});
    if (status.code != RunCode::ok) return status;
  }
  if (parameters.is_classifier && has(0)) {
    const RunStatus status = set_extents(operands.writes[0], Extents{matrix->rows});
    if (status.code != RunCode::ok) return status;
  }
  const TreeRows<X, T> rows(parameters, *matrix, operands);
  const double steps = static_cast<double>(matrix->rows) * static_cast<double>(trees.roots.size()) *
                       static_cast<double>(trees.most_steps);
  const int shares = threads_with_work(parameters.threads, matrix->rows, steps);
  const RunCode code = run_shares(team, shares, [&](int share) {
    const auto bytes = numbers_of_share(trees.targets) * std::int64_t{sizeof(double)};
    rows.run(matrix->rows * share / shares, matrix->rows * (share + 1) / shares, operands.scratch + share * bytes);
    return RunCode::ok;
  });
  return {code, 0};
}

std::string missing_trees(const Graph& graph, const Node& node) {
  const std::string missing = missing_matrix(graph, node);
  const Operator& op = graph.operators()[node.op];
  return missing.empty() && op.type == "TreeEnsembleClassifier" ? missing_labels(graph, node) : missing;
}

// There are as many scores as labels, or as the result has columns. prepare_as() checks that this is right.
Bytes tree_scratch(const Graph& graph, const Node& node, int threads) {
  auto targets = static_cast<std::int64_t>(labels_of(node).size());
  if (graph.operators()[node.op].type != "TreeEnsembleClassifier") {
    const Tensor* const result = tensor_of_result(graph, node, 0);
    targets = result != nullptr && result->shape.rank() == 2 ? result->shape.extents().back() : 1;
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // more are refused later
  return Bytes(numbers_of_share(std::clamp<std::int64_t>(targets, 1, kMost)) * std::int64_t{sizeof(double)}) * threads;
}

template <typename T>
PreparedResult prepare_as(const PrepareInput& input, PlainRun<TreeParameters<T>> run) {
  LOWTIDE_TRY(const TreeNodes trees, read_tree_nodes(input.graph, input.node));
  LOWTIDE_TRY(TreeScores scores, tree_scores_of(input.graph, input.node, trees));
  const bool is_classifier = input.graph.op(input.node).type == "TreeEnsembleClassifier";
  const Tensor* const result = tensor_of_result(input.graph, node_of(input), is_classifier ? 1 : 0);
  LOWTIDE_RETURN_IF_ERROR(check_scores(result, trees.targets));
  LOWTIDE_RETURN_IF_ERROR(check_scratch(Bytes(numbers_of_share(trees.targets)) * std::int64_t{sizeof(double)},
                                        tree_scratch(input.graph, node_of(input), 1)));
  LOWTIDE_RETURN_IF_ERROR(check_feature(input.graph, node_of(input), trees.most_feature));
  return plain_kernel(input, run,
                      TreeParameters<T>{.trees = packed_trees<T>(trees),
                                        .scores = std::move(scores),
                                        .threads = input.threads,
                                        .is_classifier = is_classifier});
}

PreparedResult prepare_trees(const PrepareInput& input) {
  switch (*computed_type(input.graph, node_of(input), 0)) {
    case DType::f64: return prepare_as<double>(input, &run_trees<double, double>);
    case DType::i64: return prepare_as<float>(input, &run_trees<std::int64_t, float>);
    case DType::i32: return prepare_as<float>(input, &run_trees<std::int32_t, float>);
    default: return prepare_as<float>(input, &run_trees<float, float>);
  }
}

constexpr PlainOperator tree_operator(std::string_view type, std::span<const DType> dtypes) {
  return {.op = {kClassicalDomain, type, dtypes},
          .prepare = &prepare_trees,
          .missing = &missing_trees,
          .scratch = &tree_scratch,
          .widens_half = true,
          .may_omit_result = true};
}

constexpr std::array kComparedTypes{DType::f64, DType::f32, DType::f16};
constexpr std::array kTreeTable{tree_operator("TreeEnsemble", kComparedTypes),
                                tree_operator("TreeEnsembleClassifier", kMatrixTypes),
                                tree_operator("TreeEnsembleRegressor", kMatrixTypes)};
constexpr std::array kTreeOperators = operators_of(kTreeTable);

}  // namespace

Family tree_family() {
  return {.name = "trees",
          .operators = kTreeOperators,
          .offer = [](const OfferInput& input) { return offer_from(kTreeTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kTreeTable, input); }};
}

}  // namespace lowtide::kernels_internal
