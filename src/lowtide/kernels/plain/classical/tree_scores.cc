// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/tree_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/plain/classical/lists.h"

namespace lowtide::kernels_internal {
namespace {

Result<TreeAggregate> aggregate_of(const Node& node) {
  constexpr std::array<std::string_view, 4> kNames{"AVERAGE", "SUM", "MIN", "MAX"};
  std::size_t at = kNames.size();
  if (const auto* number = find_attribute<std::int64_t>(node.attributes, "aggregate_function")) {
    at = *number >= 0 && *number < static_cast<std::int64_t>(kNames.size()) ? static_cast<std::size_t>(*number) : at;
  } else {
    const std::string name = text_attribute(node, "aggregate_function", "SUM");
    at = static_cast<std::size_t>(std::ranges::find(kNames, name) - kNames.begin());
  }
  if (at < kNames.size()) return static_cast<TreeAggregate>(at);
  return Error{ErrorCode::invalid, "attribute 'aggregate_function' is not AVERAGE, SUM, MIN or MAX", ""};
}

Result<std::vector<double>> base_of(const Node& node, std::int64_t targets) {
  LOWTIDE_TRY(std::vector<double> base, reals_or_tensor_in(node, "base_values"));
  if (base.size() <= 1 || base.size() == static_cast<std::size_t>(targets)) return base;
  return Error{ErrorCode::invalid,
               "attribute 'base_values' has " + std::to_string(base.size()) + " entries, and there are " +
                   std::to_string(targets) + " scores",
               ""};
}

void add_base(const TreeScores& of, std::span<double> scores) {
  for (std::size_t at = 0; at < scores.size(); ++at) {
    double& score = scores[at];
    const bool is_extreme = of.aggregate == TreeAggregate::min || of.aggregate == TreeAggregate::max;
    if (is_extreme && std::isnan(score)) score = 0;
    if (of.aggregate == TreeAggregate::average) score /= of.trees;
    if (!of.base.empty()) score += of.base.size() == 1 ? of.base.front() : of.base[at];
  }
}

// Returns the position of the label.
std::size_t finish_one_class(const TreeScores& of, std::span<double> scores) {
  if (of.only_class == 1) {
    const bool is_second = scores[1] > (of.has_negative_weight ? 0 : 0.5);
    transform_scores(of.transform, scores);
    return is_second ? 1 : 0;
  }
  const double sum = scores[0];
  const bool is_share =
      of.transform == PostTransform::probit || (of.transform == PostTransform::none && !of.has_negative_weight);
  scores[0] = is_share ? 1 - sum : -sum;
  scores[1] = sum;
  transform_scores(of.transform, scores);
  return sum > (is_share ? 0.5 : 0) ? 1 : 0;
}

}  // namespace

Result<TreeScores> tree_scores_of(const Graph& graph, NodeId node, const TreeNodes& trees) {
  TreeScores scores;
  const Node& of = graph.node(node);
  LOWTIDE_TRY(scores.aggregate, aggregate_of(of));
  LOWTIDE_TRY(scores.transform, post_transform_of(of));
  LOWTIDE_TRY(scores.base, base_of(of, trees.targets));
  scores.trees = static_cast<double>(std::max<std::size_t>(trees.roots.size(), 1));
  if (graph.op(node).type != "TreeEnsembleClassifier") return scores;
  scores.labels = labels_of(of);
  LOWTIDE_TRY(const auto classes, integers_in(of, "class_ids"));
  LOWTIDE_TRY(const auto weights, reals_or_tensor_in(of, "class_weights"));
  const auto is_first = [&](std::int64_t one) { return one == classes.front(); };
  scores.has_one_class = scores.labels.size() == 2 && !classes.empty() && std::ranges::all_of(classes, is_first);
  scores.only_class = scores.has_one_class ? classes.front() : 0;
  scores.has_negative_weight = std::ranges::any_of(weights, [](double weight) { return weight < 0; });
  return scores;
}

std::int64_t finish_scores(const TreeScores& of, std::span<double> scores) {
  add_base(of, scores);
  if (of.labels.empty()) {
    transform_scores(of.transform, scores);
    return 0;
  }
  if (of.has_one_class) return of.labels[finish_one_class(of, scores)];
  // A transform that rounds may make two scores equal. Only SOFTMAX_ZERO changes which one is the largest.
  const std::size_t before = largest_score(scores);
  const bool is_positive = scores[0] > 0;
  transform_scores(of.transform, scores);
  if (scores.size() == 1) return is_positive ? of.labels[0] : 0;
  return of.labels[of.transform == PostTransform::softmax_zero ? largest_score(scores) : before];
}

}  // namespace lowtide::kernels_internal
