// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/budgets/refusals.h"

#include <algorithm>
#include <string>

#include "lowtide/base/quote.h"

namespace lowtide::pipeline_internal {

Error no_known_sequence() {
  return {ErrorCode::unsupported,
          "no sequence is known that has the runs of all groups in their order; list each node of a group once, or "
          "check that 'before' and 'overwrites' permit the second runs",
          ""};
}

Result<void> check_groups_of_hints(const BudgetProblem& problem, const std::vector<NodeHint>& hints) {
  for (const NodeHint& hint : hints) {
    for (const std::vector<NodeId>& group : problem.groups) {
      if (std::count(group.begin(), group.end(), hint.node) < 2) continue;
      return Error{ErrorCode::unsupported, "a hint is about a node that a group repeats; omit the hint", ""};
    }
  }
  return {};
}

Result<void> check_fetched(const BudgetProblem& problem, const Graph& graph) {
  const auto refused = [&](NodeId id, const std::string& what) {
    return Error{ErrorCode::unsupported,
                 "node " + quoted(graph.node(id).name) + " begins outside and " + what +
                     ", which is not possible with a link, because copies beside the runs bring it in",
                 ""};
  };
  const auto is_fetched = [&](NodeId id) { return problem.nodes[id].fetched_over.has_value(); };
  for (const BudgetNode& node : problem.nodes) {
    if (node.part_of && is_fetched(*node.part_of)) {
      return refused(*node.part_of, "has several outputs");
    }
  }
  for (const std::vector<NodeId>& group : problem.groups) {
    const auto in_group = std::find_if(group.begin(), group.end(), is_fetched);
    if (in_group != group.end()) return refused(*in_group, "is in a group");
  }
  for (const BeforeEdge& edge : problem.before) {
    for (NodeId id : {edge.reader, edge.writer}) {
      if (is_fetched(id)) return refused(id, "is in 'before'");
    }
  }
  return {};
}

}  // namespace lowtide::pipeline_internal
