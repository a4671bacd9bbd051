// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

// Fills everything except graph, plan and weights, which are given. Errors: those of Executable::prepare. The parts are
// in files of their own.
[[nodiscard]] Result<void> check_plan(const Prepared& prepared, int threads);  // graph, machine, sizes, bodies
[[nodiscard]] Result<void> find_constants(Prepared& prepared);                 // buffer_of, constants, copies
void list_ports(Prepared& prepared);                                           // inputs, outputs, states
[[nodiscard]] Result<void> make_actions(Prepared& prepared, int threads);      // actions
void measure(Prepared& prepared);                                              // sizes, and the objects of the actions

// Where a placed value is in the arena. Requires: its buffer has a placement.
[[nodiscard]] Offset offset_in_arena(const Plan& plan, ValueId value);

}  // namespace lowtide::runtime_internal
