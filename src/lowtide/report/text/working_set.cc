// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/working_set.h"

#include <algorithm>
#include <vector>

namespace lowtide::report_internal {

Bytes working_set_of(const BudgetProblem& problem, NodeId run) {
  const IdVector<NodeId, BudgetNode>& nodes = problem.nodes;
  Bytes needed = nodes[run].size + nodes[run].extra;
  std::vector<NodeId> inputs;
  for (NodeId input : nodes[run].reads) inputs.push_back(bytes_of_entry(problem, input));
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  for (NodeId input : inputs) needed += nodes[input].is_state ? Bytes(0) : nodes[input].size;
  for (const BudgetNode& part : nodes) needed += part.part_of == run ? part.size : Bytes(0);
  return needed;
}

}  // namespace lowtide::report_internal
