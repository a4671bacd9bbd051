// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "lowtide/verify/check_budget.h"
#include "tests/testing/least_cost_by_states.h"
#include "tests/testing/step_problems.h"

// The checker and a search over all states accept the same sequences of runs, with the same peaks.
namespace lowtide {
namespace {

class AllSequences {
 public:
  AllSequences(const BudgetProblem& problem, std::size_t longest)
      : problem_(problem), states_(problem), longest_(longest) {}

  // Returns what differs in some sequence, or nothing.
  std::string compare() {
    visit({{{}, Bytes(0)}});
    return std::move(difference_);
  }

  [[nodiscard]] int accepted() const { return accepted_; }
  [[nodiscard]] int refused() const { return refused_; }

 private:
  // The states that the runs so far can lead to, each with the least peak.
  using Reached = std::map<RunState, Bytes>;

  static void reach(Reached& reached, const RunState& state, Bytes peak) {
    const auto [place, is_new] = reached.emplace(state, peak);
    if (!is_new) place->second = std::min(place->second, peak);
  }

  // Adds what may be dropped. A drop only clears bits, so the states before it are larger.
  Reached with_drops(Reached reached) const {
    std::vector<RunState> open;
    for (const auto& [state, peak] : reached) open.push_back(state);
    while (!open.empty()) {
      const RunState state = open.back();
      open.pop_back();
      const Bytes peak = reached.at(state);
      for (const RunState& next : states_.drops(state)) {
        const auto found = reached.find(next);
        if (found != reached.end() && found->second <= peak) continue;
        reached[next] = peak;
        open.push_back(next);
      }
    }
    return reached;
  }

  void visit(const Reached& before) {
    const Reached reached = with_drops(before);
    compare_end(reached);
    if (runs_.size() == longest_) return;
    for (std::uint32_t at = 0; at < states_.count() && difference_.empty(); ++at) {
      Reached next;
      for (const auto& [state, peak] : reached) {
        for (bool keeps_seed : {false, true}) {
          const std::optional<RunStates::Move> move = states_.run(state, at, keeps_seed);
          if (move) reach(next, move->to, std::max(peak, move->load));
        }
      }
      runs_.emplace_back(at);
      if (next.empty()) {
        expect_refused();
      } else {
        visit(next);
      }
      runs_.pop_back();
    }
  }

  void compare_end(const Reached& reached) {
    std::optional<Bytes> least;
    for (const auto& [state, peak] : reached) {
      const std::optional<Bytes> end = states_.end(state);
      if (end) least = std::min(least.value_or(std::max(peak, *end)), std::max(peak, *end));
    }
    if (!least) return expect_refused();
    BudgetProblem problem = problem_;
    problem.budget = *least;
    BudgetAnswer answer = answer_with(*least);
    const std::vector<Violation> found = check_budget_runs(problem, answer);
    if (!found.empty()) return note("the checker refuses: " + found[0].message);
    answer.peak -= Bytes(1);
    if (check_budget_runs(problem, answer).empty()) note("the checker accepts a lower peak");
    ++accepted_;
  }

  void expect_refused() {
    BudgetAnswer answer = answer_with(Bytes(0));
    answer.outcome = BudgetOutcome::not_found;
    // A wrong peak is no refusal of the sequence.
    const std::vector<Violation> found = check_budget_runs(problem_, answer);
    const bool is_refused = std::any_of(found.begin(), found.end(), [](const Violation& violation) {
      return violation.kind != ViolationKind::wrong_claim;
    });
    if (!is_refused) note("the checker accepts the sequence");
    ++refused_;
  }

  [[nodiscard]] BudgetAnswer answer_with(Bytes peak) const {
    BudgetAnswer answer{.outcome = BudgetOutcome::found, .runs = runs_};
    for (const BudgetNode& node : problem_.nodes) answer.base_cost += node.cost;
    for (NodeId run : runs_) answer.cost += problem_.nodes[run].cost;
    answer.cost_bound = answer.base_cost;
    answer.peak = peak;
    return answer;
  }

  void note(const std::string& what) {
    if (!difference_.empty()) return;
    difference_ = what + "; runs";
    for (NodeId run : runs_) difference_ += " " + std::to_string(run.value());
  }

  const BudgetProblem& problem_;
  RunStates states_;
  std::size_t longest_;
  std::vector<NodeId> runs_;
  std::string difference_;
  int accepted_ = 0;
  int refused_ = 0;
};

TEST(CheckAllSequences, AgreesWithASearchOverAllStates) {
  StepProblems problems(46);
  int accepted = 0;
  int refused = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const BudgetProblem problem = problems.next(trial < 300 ? 4 : 5);
    AllSequences sequences(problem, 6);
    ASSERT_EQ(sequences.compare(), "") << "trial " << trial;
    accepted += sequences.accepted();
    refused += sequences.refused();
  }
  EXPECT_GT(accepted, 3000);
  EXPECT_GT(refused, 30000);
}

}  // namespace
}  // namespace lowtide
