// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Folds each BatchNormalization into the convolution before it:
//
//   y = BatchNormalization(Conv(x, w, b), scale, shift, mean, variance)     becomes     y = Conv(x, w', b')
//   w' = lowtide::ScaledWeights(w, scale, variance)                         w * scale / sqrt(variance + epsilon)
//   b' = lowtide::ScaledBias(scale, shift, mean, variance, b)               (b - mean) * (the same factor) + shift
//
// Both new nodes read constants only, so split_load_time() makes load-time work of them.
//
// A pair is folded if all of this holds: the BatchNormalization is not in training; w, b and its four parameters are
// constants, and f32 as x; x depends on more than constants; only the BatchNormalization reads the result of the Conv,
// which is not needed at the end; no node waits for one of both, or one of both for a node. Results differ from those
// of the two nodes by rounding, and where a factor or a sum is not finite.
//
// Bodies stay as they are. Returns nullopt if nothing changes. Errors: those of GraphBuilder. O(edges).
[[nodiscard]] Result<std::optional<Rewritten>> fold_batch_norm(const Graph& graph);

}  // namespace lowtide
