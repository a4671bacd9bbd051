// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/kernels/supported.h"
#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

// Fills everything except graph, plan, weights and options, which are given. Errors: those of Executable::prepare. The
// parts are in files of their own.
[[nodiscard]] Result<void> check_plan(const Prepared& prepared, int threads);  // threads, graph, machine
void list_graphs(Prepared& prepared);                                          // graphs, with place and captures
[[nodiscard]] Result<void> find_constants(Prepared& prepared);                 // given, buffer_of, constants, copies
[[nodiscard]] Result<void> check_addresses(const Prepared& prepared);          // of the values in all graphs
void list_ports(Prepared& prepared);                                           // inputs, outputs, states
[[nodiscard]] Result<void> make_actions(Prepared& prepared);                   // actions
void order_actions(Prepared& prepared);                                        // order of the actions
void measure(Prepared& prepared);                                              // sizes, and the objects of the actions

// Where a placed value is in the arena of its graph. Requires: its buffer has a placement.
[[nodiscard]] Offset offset_in_arena(const Plan& plan, ValueId value);

// "graph 'g': step 4: node 3 'relu' (Relu)", with the path of a body before the step.
[[nodiscard]] std::string place_of(const PreparedGraph& in, StepId step);

// The values of a compute step or alias step, one per entry of the node.
[[nodiscard]] Operands operands_of(const PreparedGraph& in, StepId step);

// Whether the step needs a kernel. An alias needs one that finds the extents of its result, if they depend on data.
[[nodiscard]] bool needs_kernel(const PreparedGraph& in, StepId step);

// The nodes of this graph that a step runs although they have no kernel. Those of bodies are not included.
[[nodiscard]] std::vector<UnsupportedNode> unsupported_in(const Prepared& prepared, const PreparedGraph& in);

// Makes the action of a step whose node has bodies. Errors: (unsupported) the operator runs bodies in a way that is not
// known; (invalid) the numbers or types of its operands do not match those of its bodies.
[[nodiscard]] Result<Action> body_action(const Prepared& prepared, PreparedGraphId in, StepId step);

}  // namespace lowtide::runtime_internal
