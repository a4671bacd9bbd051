// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <set>

#include "lowtide/verify/budget/entry_facts.h"
#include "lowtide/verify/check_budget.h"

namespace lowtide {
namespace verify_internal {
namespace {

// The bytes of these entries and of all states.
Bytes size_of(const BudgetProblem& problem, const EntryFacts& facts, const std::set<NodeId>& entries) {
  Bytes sum = facts.states();
  for (NodeId entry : entries) sum += problem.nodes[entry].size;
  return sum;
}

// Returns whether the bytes of `needed` exceed the budget, or every run that makes one of them does or needs a set of
// the proof before it.
bool is_closed(const BudgetProblem& problem, const EntryFacts& facts, const InfeasibleProof& proof,
               const std::vector<NodeId>& needed) {
  if (size_of(problem, facts, {needed.begin(), needed.end()}) > problem.budget) return true;
  return std::all_of(needed.begin(), needed.end(), [&](NodeId made) {
    const NodeId run = facts.maker(made);
    std::set<NodeId> before(needed.begin(), needed.end());
    before.insert(facts.reads(run).begin(), facts.reads(run).end());
    std::erase_if(before, [&](NodeId entry) { return facts.maker(entry) == run; });
    if (size_of(problem, facts, before) + facts.taken_by(run) > problem.budget) return true;
    return std::any_of(proof.sets.begin(), proof.sets.end(), [&](const std::vector<NodeId>& earlier) {
      return std::includes(before.begin(), before.end(), earlier.begin(), earlier.end());
    });
  });
}

// The bytes of the outputs of the problem that a run makes.
Bytes outputs_made_by(const BudgetProblem& problem, const EntryFacts& facts, NodeId run) {
  Bytes made = facts.is_output(run) ? problem.nodes[run].size : Bytes(0);
  for (NodeId part : facts.parts(run)) {
    if (facts.is_output(part)) made += problem.nodes[part].size;
  }
  return made;
}

// Returns whether each maker exceeds the budget beside the outputs of the problem that all other makers have made.
bool is_each_too_large(const BudgetProblem& problem, const EntryFacts& facts, const std::vector<NodeId>& makers) {
  Bytes made;
  for (NodeId maker : makers) made += outputs_made_by(problem, facts, maker);
  return std::all_of(makers.begin(), makers.end(), [&](NodeId maker) {
    // Its own outputs are in what it takes.
    Bytes live = facts.states() + made - outputs_made_by(problem, facts, maker) + facts.taken_by(maker);
    for (NodeId input : facts.reads(maker)) {
      const bool is_counted =
          facts.is_output(input) && std::binary_search(makers.begin(), makers.end(), facts.maker(input));
      if (!is_counted) live += problem.nodes[input].size;
    }
    return live > problem.budget;
  });
}

// Returns whether a proof with makers is well-formed and shows that nothing keeps the budget.
bool check_makers(const BudgetProblem& problem, const EntryFacts& facts, const InfeasibleProof& proof) {
  const std::vector<NodeId>& makers = proof.makers;
  const bool is_valid = proof.sets.empty() && proof.node &&
                        std::adjacent_find(makers.begin(), makers.end(), std::greater_equal<>()) == makers.end() &&
                        std::binary_search(makers.begin(), makers.end(), *proof.node) &&
                        std::all_of(makers.begin(), makers.end(), [&](NodeId maker) { return facts.is_run(maker); });
  return is_valid && is_each_too_large(problem, facts, makers);
}

}  // namespace
}  // namespace verify_internal

bool check_infeasible(const BudgetProblem& problem, const InfeasibleProof& proof) {
  const verify_internal::EntryFacts facts(problem);
  if (!proof.makers.empty()) return verify_internal::check_makers(problem, facts, proof);
  std::set<NodeId> inputs(facts.outputs().begin(), facts.outputs().end());
  if (proof.node) {
    if (!facts.is_run(*proof.node)) return false;
    inputs = {facts.reads(*proof.node).begin(), facts.reads(*proof.node).end()};
  }
  const Bytes taken = proof.node ? facts.taken_by(*proof.node) : Bytes(0);
  if (verify_internal::size_of(problem, facts, inputs) + taken > problem.budget) return true;
  const auto is_valid = [&](const std::vector<NodeId>& set) {
    return !set.empty() && std::adjacent_find(set.begin(), set.end(), std::greater_equal<>()) == set.end() &&
           std::all_of(set.begin(), set.end(), [&](NodeId id) { return facts.is_made(id); });
  };
  const auto is_needed = [&](const std::vector<NodeId>& set) {
    return std::includes(inputs.begin(), inputs.end(), set.begin(), set.end());
  };
  if (!std::all_of(proof.sets.begin(), proof.sets.end(), is_valid)) return false;
  if (std::none_of(proof.sets.begin(), proof.sets.end(), is_needed)) return false;
  return std::all_of(proof.sets.begin(), proof.sets.end(), [&](const std::vector<NodeId>& set) {
    return verify_internal::is_closed(problem, facts, proof, set);
  });
}

}  // namespace lowtide
