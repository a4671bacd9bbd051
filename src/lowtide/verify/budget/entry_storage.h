// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/plan/budget_problem.h"

namespace lowtide::verify_internal {

// In which bytes the outputs of a budget problem are. Chains of views and of outputs that overwrite each other are
// followed with jumps that double, so a chain of any length takes O(entries x log entries).
class EntryStorage {
 public:
  explicit EntryStorage(const BudgetProblem& problem);

  // What a view names in the end, and otherwise the entry itself.
  [[nodiscard]] NodeId of(NodeId entry) const { return storage_[entry]; }
  // Whether an output is written into the bytes of a state, or is one.
  [[nodiscard]] bool is_in_state(NodeId entry) const { return problem_.nodes[origin_[entry]].is_state; }

 private:
  const BudgetProblem& problem_;
  IdVector<NodeId, NodeId> storage_;
  IdVector<NodeId, NodeId> origin_;  // of the first content of the bytes
};

}  // namespace lowtide::verify_internal
