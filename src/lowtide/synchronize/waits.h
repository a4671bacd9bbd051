// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/graph.h"
#include "lowtide/plan/layout.h"
#include "lowtide/plan/program.h"

namespace lowtide {

// Adds the fewest waits that make every run of the program correct, given where its buffers are. Waits that the steps
// already had are replaced. Step b must come after step a, which is earlier in the list, if
//   - b reads a value that a writes, all of it or a part;
//   - a is the first step of a node that is a control input of b's node; or
//   - both touch a byte and at least one of them writes it. The byte may be in the same buffer (in-place results,
//     states) or in two buffers that share it. A copy touches its range of bytes only.
// A wait is added only if this does not follow from other waits and from the order of each stream. The planner assumes
// estimated kernel times when it lets buffers share bytes. The waits ensure that the first use of the later buffer
// comes after the last use of the earlier one, no matter how long kernels take.
//
// For each range of bytes, the algorithm keeps the last writer, and on each stream the last reader since then. A vector
// clock per step (Fidge 1988, Mattern 1989) shows which waits follow from others.
// O((touched ranges + waits) x streams + steps x log ranges) time, and memory for steps x streams numbers.
//
// Requires: steps have streams, buffers in the arena have placements, and layout.arena has an entry per region. The
// control inputs of a node have earlier steps.
[[nodiscard]] Program with_waits(const Graph& graph, Program program, const Layout& layout);

}  // namespace lowtide
