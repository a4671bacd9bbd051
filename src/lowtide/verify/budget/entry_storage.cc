// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/budget/entry_storage.h"

namespace lowtide::verify_internal {
namespace {

// Follows all links to their ends. The problem has no cycles, so each round halves what is left of the longest chain.
void follow(IdVector<NodeId, NodeId>& links) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (NodeId& link : links) {
      const NodeId next = links[link];
      has_changed = has_changed || next != link;
      link = next;
    }
  }
}

}  // namespace

EntryStorage::EntryStorage(const BudgetProblem& problem) : problem_(problem) {
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    const BudgetNode& node = problem.nodes[id];
    storage_.push_back(node.view_of.value_or(id));
    origin_.push_back(node.view_of ? *node.view_of : node.overwrites.value_or(id));
  }
  follow(storage_);
  follow(origin_);
}

}  // namespace lowtide::verify_internal
