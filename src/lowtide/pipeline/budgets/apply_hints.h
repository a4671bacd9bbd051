// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/pipeline/budgets/run_model.h"
#include "lowtide/plan/hints.h"

namespace lowtide::pipeline_internal {

// Changes a problem so that every sequence of it honours the hints. `hints` names nodes of the graph
// (RunModel::node_of); those without bytes of their own are ignored.
//   - keep and swap: the node runs once.
//   - recompute: the node gets a stand-in, which reads the same. It has the readers after the longest time without one,
//     in the order of the model, so both run. They stand for two runs of one node. A node that runs once gets none.
//
//   f -> g -> h, f -> h    order f g h    recompute f:   f -> g -> h, f' -> h    order f g f' h
//
// A sequence with stand-ins is one of the problem without them, with the same cost and at most the same live bytes: all
// readers after a run read its output. O((nodes + reads) x hints).
void apply_hints(RunModel& model, const std::vector<NodeHint>& hints);

}  // namespace lowtide::pipeline_internal
