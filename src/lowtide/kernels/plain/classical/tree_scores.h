// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/kernels/plain/classical/scores.h"
#include "lowtide/kernels/plain/classical/tree_nodes.h"

namespace lowtide::kernels_internal {

// How the weights of all trees become a score. The numbers are those of TreeEnsemble.
enum class TreeAggregate : std::uint8_t { average, sum, min, max };

// What makes the results of a row from the sums of its weights.
struct TreeScores {
  TreeAggregate aggregate = TreeAggregate::sum;
  PostTransform transform = PostTransform::none;
  std::vector<double> base;  // one per target, one for all of them, or none
  double trees = 1;
  std::vector<std::int64_t> labels;  // of a classifier: one per class
  // A classifier of two classes whose weights are all for this one.
  bool has_one_class = false;
  std::int64_t only_class = 0;
  bool has_negative_weight = false;
};

// Errors (invalid): an attribute with an unknown value; a number of base values that is neither 1 nor that of the
// targets; a number of labels that is not that of the classes.
[[nodiscard]] Result<TreeScores> tree_scores_of(const Graph& graph, NodeId node, const TreeNodes& trees);

// Makes the scores of a row, in place, from the sums of its weights. A minimum or maximum of no weights is NaN, and
// counts as 0. Returns the label of a classifier, and 0 for a regressor.
//
// ONNX does not say what a classifier with two classes returns if all weights are for one of them. For the first class,
// their sum s stands for the second one:
//
//   post_transform        scores                                label
//   NONE                  1 - s, s if no weight is negative     second if s > 0.5
//   NONE                  -s, s otherwise                       second if s > 0
//   PROBIT                those of 1 - s, s                     second if s > 0.5
//   others                those of -s, s                        second if s > 0
//
// For the second class, the scores are those of the sums, 0 and s. The label is the second one if s > 0, or if s > 0.5
// and no weight is negative.
[[nodiscard]] std::int64_t finish_scores(const TreeScores& of, std::span<double> scores);

}  // namespace lowtide::kernels_internal
