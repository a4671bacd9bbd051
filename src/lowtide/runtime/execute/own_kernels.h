// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "lowtide/runtime/execute/graph_tables.h"

namespace lowtide::runtime_internal {

// Bind the actions that this room runs itself. `around` has the step, and `all` has the tables of its bodies. Both must
// outlive the result, which allocates nothing while it runs.

// Copies a range of bytes from one value to another.
[[nodiscard]] std::unique_ptr<OwnKernel> copy_run(const CopyAction& action, GraphTables& around);

// Runs the branch that the condition chooses, and copies its outputs to those of the node.
[[nodiscard]] std::unique_ptr<OwnKernel> if_run(const IfAction& action, GraphTables& around, const AllTables& all);

struct LoopContext {
  const Addresses& addresses;
  const RunControl& control;
};

// Runs the body of a Loop or Scan once per iteration. Between two iterations it copies the results of the body to its
// inputs. It stops between iterations if RunControl::should_stop().
[[nodiscard]] std::unique_ptr<OwnKernel> loop_run(const LoopAction& action, GraphTables& around, const AllTables& all,
                                                  const LoopContext& context);

}  // namespace lowtide::runtime_internal
