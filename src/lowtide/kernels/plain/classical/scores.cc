// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/plain/classical/lists.h"

namespace lowtide::kernels_internal {
namespace {

double logistic(double x) {
  const double above_half = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - above_half : above_half;
}

// The inverse of the normal distribution, by Winitzki's approximation of the inverse error function, which other
// runtimes use as well. Its error is below 0.002.
double probit(double probability) {
  constexpr double kFit = 0.147;
  const double x = 2 * probability - 1;
  const double log = std::log((1 - x) * (1 + x));
  const double middle = 2 / (std::numbers::pi * kFit) + log / 2;
  const double magnitude = std::sqrt(-middle + std::sqrt(middle * middle - log / kFit));
  return std::numbers::sqrt2 * (x < 0 ? -magnitude : magnitude);
}

// Scores that count as 0 get no probability, and do not count for the sum of the others.
void softmax(std::span<double> scores, double zero) {
  if (scores.empty()) return;
  const double most = scores[largest_score(scores)];
  double sum = 0;
  for (double& score : scores) {
    const bool is_zero = std::abs(score) <= zero;
    score = is_zero ? score * std::exp(-most) : std::exp(score - most);
    if (!is_zero) sum += score;
  }
  for (double& score : scores) score = sum == 0 ? 0.5 : score / sum;
}

}  // namespace

Result<PostTransform> post_transform_of(const Node& node) {
  constexpr std::array<std::string_view, 5> kNames{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  std::size_t at = kNames.size();
  std::string shown;
  if (const auto* number = find_attribute<std::int64_t>(node.attributes, "post_transform")) {
    at = *number >= 0 && *number < static_cast<std::int64_t>(kNames.size()) ? static_cast<std::size_t>(*number) : at;
    shown = std::to_string(*number);
  } else {
    const std::string name = text_attribute(node, "post_transform", "NONE");
    at = static_cast<std::size_t>(std::ranges::find(kNames, name) - kNames.begin());
    shown = quoted(name);
  }
  if (at < kNames.size()) return static_cast<PostTransform>(at);
  return Error{ErrorCode::invalid, "attribute 'post_transform' is " + shown + ", which is not a transform", ""};
}

void transform_scores(PostTransform transform, std::span<double> scores) {
  switch (transform) {
    case PostTransform::none: return;
    case PostTransform::softmax: return softmax(scores, -1);
    case PostTransform::softmax_zero: return softmax(scores, 1e-7);
    case PostTransform::logistic: std::ranges::transform(scores, scores.begin(), &logistic); return;
    case PostTransform::probit: std::ranges::transform(scores, scores.begin(), &probit); return;
  }
}

std::vector<std::int64_t> labels_of(const Node& node) {
  for (std::string_view name : {"classlabels_int64s", "classlabels_ints"}) {
    if (const auto* labels = integers_attribute(node, name)) return *labels;
  }
  return {};
}

std::string missing_labels(const Graph& graph, const Node& node) {
  if (!texts_in(node, "classlabels_strings").empty()) {
    return "its labels are strings, and kernels have integers; train the classifier with integer labels";
  }
  const bool has_label = !node.outputs.empty() && node.outputs[0];
  if (has_label && graph.tensor(*node.outputs[0]).dtype != DType::i64) return "the labels are not i64";
  return labels_of(node).empty() ? "it has no labels" : "";
}

std::size_t largest_score(std::span<const double> scores) {
  std::size_t largest = 0;
  for (std::size_t at = 1; at < scores.size(); ++at) {
    if (scores[at] > scores[largest] || std::isnan(scores[largest])) largest = at;
  }
  return largest;
}

}  // namespace lowtide::kernels_internal
