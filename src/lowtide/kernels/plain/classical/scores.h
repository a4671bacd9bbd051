// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide::kernels_internal {

// What an operator of ai.onnx.ml applies to the scores of a row. The numbers are those of TreeEnsemble.
enum class PostTransform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };

// Reads the attribute post_transform, which is a text, or a number for TreeEnsemble. Errors (invalid): another value.
[[nodiscard]] Result<PostTransform> post_transform_of(const Node& node);

// Transforms the scores of a row in place. softmax_zero gives a score of 0 no probability.
void transform_scores(PostTransform transform, std::span<double> scores);

// The labels of a classifier: integers, or none.
[[nodiscard]] std::vector<std::int64_t> labels_of(const Node& node);

// Why a classifier cannot run because of its labels, or an empty text.
[[nodiscard]] std::string missing_labels(const Graph& graph, const Node& node);

// The first of the largest scores. A NaN is no largest one unless all are NaN.
[[nodiscard]] std::size_t largest_score(std::span<const double> scores);

}  // namespace lowtide::kernels_internal
