// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/random.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::testing {

// Streams of a plan for two regions. Workers do not address the second one: worker 0, link 0 -> 1, link 1 -> 0.
inline constexpr StreamId kComputes{0};
inline constexpr StreamId kCopiesOut{1};
inline constexpr StreamId kCopiesIn{2};

// Appends copies that put the next content of each state into its bytes, where it does not lie there already; fills in
// Program::updates. Requires: everything that replaces a state is intact at the end of the program.
void copy_states(const Graph& graph, Plan& plan, Random& random);

// Turns a correct program, whose buffers have regions but no offsets yet, into another correct one. Adds nodes that run
// again, copies in one or two pieces, swaps and constants that come in over links. Inserts steps. A reader of a value
// may then read another value of the same tensor.
void add_transfers(const Graph& graph, Plan& plan, Random& random);

// Spreads the steps of workers over all streams of workers, with waits so that steps run one after another.
void spread_in_order(Plan& plan, Random& random);

}  // namespace lowtide::testing
