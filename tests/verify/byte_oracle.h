// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::testing {

// Runs a plan of a small graph on a memory of tags, one per byte: (tensor, run of its node, byte of the tensor). All
// runs of a node that always gives the same results have the same tag, so recomputed bytes are as good as the first
// ones. A copy moves tags. Every read must find the tags of its own tensor. Aliases get theirs by element arithmetic
// (view_bytes.h). A kernel may overwrite a byte that it reads only if the one element it writes there is the only one
// that needs it. At the end, outputs are there and each state holds what replaces it. Uses no intervals, no lifespans
// and no code of the verifier. Returns the first few faults. If there are none, a machine that follows the plan step by
// step computes the right results.
//
// Requires: arenas of at most 2^20 bytes.
[[nodiscard]] std::vector<std::string> byte_faults(const Graph& graph, const Plan& plan, bool is_body = false);

// Checks the other promises of a plan (machine.h, program.h, layout.h, plan.h), each in the slowest way: ids,
// provenance, each pair of buffers, lifespans against accesses, kinds against roles, and claims. Also returns
// program_faults, constant_faults and neighbor_faults.
[[nodiscard]] std::vector<std::string> rule_faults(const Graph& graph, const Plan& plan, bool is_body = false);

// The rules about steps and values alone, for rule_faults: which nodes run, and which run again; what writes a value,
// and whether its bytes are intact until the last read; what streams reach; and which steps happen before others.
// Requires: ids are in range and values lie in their buffers.
[[nodiscard]] std::vector<std::string> program_faults(const Graph& graph, const Plan& plan);

// The rules about constants and read-only regions, for rule_faults. Requires: ids are in range.
[[nodiscard]] std::vector<std::string> constant_faults(const Graph& graph, const Plan& plan);

// The rules about units of the alignment, for rule_faults. Requires: ids are in range.
[[nodiscard]] std::vector<std::string> neighbor_faults(const Graph& graph, const Plan& plan);
// The smallest alignment of a region that a worker of the program can write.
[[nodiscard]] std::int64_t smallest_unit(const Graph& graph, const Plan& plan);

}  // namespace lowtide::testing
