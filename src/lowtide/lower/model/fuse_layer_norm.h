// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Makes one LayerNormalization of the nodes that exporters write for it before opset 17:
//
//   d = Sub(x, ReduceMean(x))                        over the last axes, which both means keep
//   v = ReduceMean(Pow(d, 2))                        or Mul(d, d)
//   y = Add(Mul(Div(d, Sqrt(Add(v, epsilon))), scale), bias)      or without the last Add
//
// The nodes are replaced if all of this holds: x is f32; scale and bias are constants with the extents of the last axes
// of x; the exponent is 2, and the epsilon is one number; only these nodes read the tensors between them, which are not
// needed at the end; no node waits for one of them, or one of them for a node. Results differ from those of the
// separate nodes by rounding.
//
// `table` has the bytes of the numbers. Bodies stay as they are. Returns nullopt if nothing changes. Errors: those of
// GraphBuilder. O(edges).
[[nodiscard]] Result<std::optional<Rewritten>> fuse_layer_norm(const Graph& graph, const ConstantTable& table);

}  // namespace lowtide
