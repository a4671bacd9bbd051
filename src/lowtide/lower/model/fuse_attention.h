// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Makes one lowtide::Attention (graph/lowered.h) of the nodes that exporters write for it:
//
//   y = MatMul(Softmax(masked), v)
//   masked = Add(scaled, mask)        or Where(mask, fill, scaled), Where(mask, scaled, fill), scaled
//   scaled = Mul(scores, factor)      or Div(scores, divisor), scores
//   scores = MatMul(q, k)
//
// A Transpose of q, k, v or y becomes part of the node. Thus the scores, which have an element per query and key, are
// never in memory as a whole.
//
// The nodes are replaced if all of this holds: the tensors are f32 with known extents and three or four axes, and the
// axes before the last two agree; there are at least as many keys as columns of v, so that the scores are not smaller
// than the result; the Softmax goes over the last axis; the factor, divisor and fill are one number; the mask has f32
// or bool and does not add axes; only these nodes read the tensors between them, which are not needed at the end; no
// node waits for one of them, or one of them for a node. Results differ from those of the separate nodes by rounding.
//
// `table` has the bytes of the numbers. Bodies stay as they are. Returns nullopt if nothing changes. Errors: those of
// GraphBuilder. O(edges).
[[nodiscard]] Result<std::optional<Rewritten>> fuse_attention(const Graph& graph, const ConstantTable& table);

}  // namespace lowtide
