// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// Fills Step::after of a plan whose steps have streams and whose buffers have places, with the fewest waits that make
// every run right: step b comes after step a, earlier in the list and on another stream, if
//   - b reads a value that a writes, all of it or a part;
//   - a is the first step of a node that is a control input of b's node;
//   - both touch a byte, and one of them writes it: b writes over what a reads or wrote, be it of the same buffer (in
//     place, state) or of another one (shared bytes). A copy touches its range of bytes only;
// and if that does not follow already from the other waits and from the order on each stream. So what the planner has
// put after the end of another buffer, because of how long kernels may take, stays after it however long they take.
//
// Bytes are kept as ranges, with who wrote them last and who has read them since on each stream.
// O((touched ranges + waits) x streams + steps x log ranges), steps x streams numbers.
void add_waits(const Graph& graph, Plan& plan);

}  // namespace lowtide
