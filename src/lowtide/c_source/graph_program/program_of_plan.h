// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/c_source/graph_program/node_facts.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::graph_program_internal {

// The nodes of a graph that have no calls, each with the reason. Errors (unsupported): there are some, and the message
// lists all of them. O(nodes).
[[nodiscard]] Result<void> check_nodes(const Graph& graph, const BytesOf& bytes_of);

// The program that a plan describes: a tensor for each value in the arena, with the place of the plan, and the calls of
// each step. `inputs` are the tensors that the caller writes, which the first node makes, and the constants among the
// results are copied into the arena, behind everything else.
//
// Requires: verify() found nothing for this graph and this plan, which is a sequence for c_target(), and check_nodes()
// found nothing. Errors (over_limit): an arena or a constant of 2 GiB or more. O(steps + values + bytes of constants).
[[nodiscard]] Result<CProgram> program_of_plan(const Graph& graph, const Plan& plan,
                                               const std::vector<std::string>& inputs, const BytesOf& bytes_of);

}  // namespace lowtide::graph_program_internal
