// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// "The bytes of `part` are those of `whole` from `offset` on", when both are dense and row-major.
//
//   Reshape(x) -> y              part y, whole x, offset 0
//   Slice(x, rows 2..5) -> y     part y, whole x, offset 2 rows
//   Concat(a, b; axis 0) -> c    part a, whole c, offset 0;  part b, whole c, offset size(a)
struct View {
  TensorId part;
  TensorId whole;
  Bytes offset;  // offset + size(part) <= size(whole); a multiple of the element's bytes
};

// The views by which a node would need no kernel: one for each output (whole, slice, split, expand) or one for each
// input (concat). Empty when the node must compute. Must-information: every view returned is sound, under these
// conditions by kind (graph/operator_traits.h):
//   whole   same type and size in both; Dropout only in inference (training_mode absent or known to be false), no mask
//   slice   one contiguous run: some axis k with step 1, every axis after k complete, every axis before k of extent 1
//           in the result; starts, ends, axes and steps known, and the result has the extents they give; no
//           upper-bound extents
//   split   every axis before the split one has extent 1; the parts have the stated lengths, add up to the whole, and
//           agree with it along all others; no upper-bound extents
//   concat  the same; an input may come twice, and then has two views
//   expand  as many elements after as before: only extents of 1 are added. A dense layout cannot repeat without a copy
// A node with bodies computes. Parts of types below 8 bits must start on a whole byte, and end on one or with the
// whole. O(rank + inputs + outputs).
[[nodiscard]] std::vector<View> views_of(const Graph& graph, NodeId node);

}  // namespace lowtide
