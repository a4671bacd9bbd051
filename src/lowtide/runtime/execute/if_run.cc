// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/execute/own_kernels.h"
#include "lowtide/runtime/execute/tensors.h"

namespace lowtide::runtime_internal {
namespace {

class IfRun final : public OwnKernel {
 public:
  IfRun(const IfAction& action, GraphTables& around, const AllTables& all)
      : action_(action),
        around_(around),
        then_body_(action.then_body ? all[action.then_body->index()].get() : nullptr),
        else_body_(action.else_body ? all[action.else_body->index()].get() : nullptr) {
    run = [](BoundKernel* self, Team& team) { return static_cast<IfRun*>(self)->run_branch(team); };
  }

 private:
  RunStatus run_branch(Team& team) {
    const bool condition = *around_.address(*action_.operands.reads[0]) != std::byte{0};
    GraphTables* chosen = condition ? then_body_ : else_body_;
    if (chosen == nullptr) return {RunCode::bad_extents, 0};
    GraphTables& body = *chosen;
    body.take_captures(around_);
    RunStatus status = body.run(team);
    const std::vector<ValueId>& results = body.graph().plan.program.outputs;
    for (std::size_t at = 0; at < results.size() && status.code == RunCode::ok; ++at) {
      const std::optional<ValueId>& output = action_.operands.writes[at];
      if (output) status = copy_tensor(body.bound(results[at]), around_.bound(*output));
    }
    return status;
  }

  const IfAction& action_;
  GraphTables& around_;
  GraphTables* then_body_;  // nullptr: left out
  GraphTables* else_body_;
};

}  // namespace

std::unique_ptr<OwnKernel> if_run(const IfAction& action, GraphTables& around, const AllTables& all) {
  return std::make_unique<IfRun>(action, around, all);
}

}  // namespace lowtide::runtime_internal
