// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <set>

#include "lowtide/verify/check_budget.h"

namespace lowtide {
namespace verify_internal {
namespace {

Bytes size_of(const BudgetProblem& problem, const std::set<NodeId>& nodes) {
  Bytes sum;
  for (NodeId node : nodes) sum += problem.nodes[node].size;
  return sum;
}

// Returns whether the outputs of `needed` exceed the budget, or every run that makes one of them does or needs a set of
// the proof before it.
bool is_closed(const BudgetProblem& problem, const InfeasibleProof& proof, const std::vector<NodeId>& needed) {
  if (size_of(problem, {needed.begin(), needed.end()}) > problem.budget) return true;
  return std::all_of(needed.begin(), needed.end(), [&](NodeId made) {
    std::set<NodeId> live(needed.begin(), needed.end());
    live.insert(problem.nodes[made].reads.begin(), problem.nodes[made].reads.end());
    if (size_of(problem, live) + problem.nodes[made].extra > problem.budget) return true;
    live.erase(made);
    return std::any_of(proof.sets.begin(), proof.sets.end(), [&](const std::vector<NodeId>& earlier) {
      return std::includes(live.begin(), live.end(), earlier.begin(), earlier.end());
    });
  });
}

}  // namespace
}  // namespace verify_internal

bool check_infeasible(const BudgetProblem& problem, const InfeasibleProof& proof) {
  std::set<NodeId> inputs;
  if (proof.node) {
    if (!problem.nodes.contains(*proof.node)) return false;
    const BudgetNode& node = problem.nodes[*proof.node];
    inputs.insert(node.reads.begin(), node.reads.end());
    if (verify_internal::size_of(problem, inputs) + node.size + node.extra > problem.budget) return true;
  } else {
    for (NodeId node : all_ids<NodeId>(problem.nodes.size())) {
      if (problem.nodes[node].is_output) inputs.insert(node);
    }
  }
  const auto is_valid = [&](const std::vector<NodeId>& set) {
    return !set.empty() && std::adjacent_find(set.begin(), set.end(), std::greater_equal<>()) == set.end() &&
           std::all_of(set.begin(), set.end(), [&](NodeId id) { return problem.nodes.contains(id); });
  };
  const auto is_needed = [&](const std::vector<NodeId>& set) {
    return std::includes(inputs.begin(), inputs.end(), set.begin(), set.end());
  };
  if (!std::all_of(proof.sets.begin(), proof.sets.end(), is_valid)) return false;
  if (std::none_of(proof.sets.begin(), proof.sets.end(), is_needed)) return false;
  return std::all_of(proof.sets.begin(), proof.sets.end(),
                     [&](const std::vector<NodeId>& set) { return verify_internal::is_closed(problem, proof, set); });
}

}  // namespace lowtide
