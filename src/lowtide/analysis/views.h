// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// States that the bytes of `part` are those of `whole` from `offset` on, if both are dense and row-major.
//
//   Reshape(x) -> y              part y, whole x, offset 0
//   Slice(x, rows 2..5) -> y     part y, whole x, offset 2 rows
//   Concat(a, b; axis 0) -> c    part a, whole c, offset 0;  part b, whole c, offset size(a)
struct View {
  TensorId part;
  TensorId whole;
  Bytes offset;  // offset + size(part) <= size(whole); a multiple of the element's bytes
};

// Returns the views with which a node needs no kernel. There is one for each output (whole, slice, split, expand,
// transpose), or one for each input (concat). Empty if the node must compute. Every view that is returned is sound. The
// conditions depend on the kind (graph/operator_traits.h):
//   whole   same type and size in both; a Dropout only in inference (training_mode is omitted or known to be false)
//           and without a mask
//   slice   one contiguous run: there is an axis k with step 1, every axis after k is complete, and every axis before k
//           has extent 1 in the result; starts, ends, axes and steps are known and give the extents of the result; no
//           extent is an upper bound
//   split   every axis before the split one has extent 1, or one part is the whole and the others are empty; the parts
//           add up to the whole along the split axis, have the stated lengths if these are known, and agree with the
//           whole along all other axes; no extent is an upper bound
//   concat  as for split; an input may appear twice, and then has two views
//   expand  as many elements in the result as in the input, so nothing is repeated and only extents of 1 are added; no
//           extent is an upper bound
//   transpose
//           the axes whose extent is not 1 keep their order; `perm` names each axis once and gives the extents of the
//           result; no extent is an upper bound
// A node with bodies computes. Parts of types below 8 bits must start on a whole byte. They must also end on one, or at
// the end of the whole. O(rank + inputs + outputs).
[[nodiscard]] std::vector<View> views_of(const Graph& graph, NodeId node);

}  // namespace lowtide
