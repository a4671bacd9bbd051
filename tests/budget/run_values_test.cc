// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/run_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lowtide/budget/offload.h"
#include "lowtide/verify/check_budget.h"
#include "lowtide/verify/check_transfers.h"
#include "step_problems.h"
#include "tests/budget/least_time.h"
#include "tests/budget/swap_problems.h"
#include "tests/budget/swap_steps.h"

namespace lowtide {
namespace {

std::string text_of(const std::vector<RunValue>& values) {
  std::string text;
  for (const RunValue& value : values) {
    text += std::to_string(value.entry.value()) + " " + std::string(to_string(value.kind)) + " " +
            std::to_string(value.live.begin) + ".." + std::to_string(value.live.end) + " " +
            std::to_string(value.size.count()) + "; ";
  }
  return text;
}

Bytes state_bytes(const BudgetProblem& problem) {
  Bytes sum;
  for (const BudgetNode& node : problem.nodes) {
    if (node.is_state) sum += node.size;
  }
  return sum;
}

// a -> b -> c, with a read again by c, scratch of b, and c an output.
BudgetProblem chain() {
  return {.nodes = {{.reads = {}, .size = Bytes(4)},
                    {.reads = {NodeId(0)}, .size = Bytes(3), .extra = Bytes(5)},
                    {.reads = {NodeId(0), NodeId(1)}, .size = Bytes(2), .is_output = true}},
          .budget = Bytes(0)};
}

TEST(RunValues, OfAChain_HaveOutputsAndScratch) {
  const std::vector<RunValue> values = values_of_runs(chain(), {NodeId(0), NodeId(1), NodeId(2)});
  EXPECT_EQ(text_of(values), "0 output 0..3 4; 1 output 1..3 3; 1 scratch 1..2 5; 2 output 2..4 2; ");
  const RunPeak peak = peak_of_values(values, 3);
  EXPECT_EQ(peak.position, 1U);
  EXPECT_EQ(peak.bytes, Bytes(12));  // 4 of a, 3 of b and 5 of its scratch
  EXPECT_EQ(text_of(peak.values), "1 scratch 1..2 5; 0 output 0..3 4; 1 output 1..3 3; ");
}

TEST(RunValues, OfAnEntryThatRunsAgain_AreTwo) {
  BudgetProblem problem = chain();
  problem.nodes[NodeId(0)].seed = Bytes(1);
  const std::vector<RunValue> values = values_of_runs(problem, {NodeId(0), NodeId(1), NodeId(0), NodeId(2)});
  EXPECT_EQ(text_of(values),
            "0 output 0..2 4; 0 seed 0..3 1; 1 output 1..4 3; 1 scratch 1..2 5; 0 output 2..4 4; 2 output 3..5 2; ");
  EXPECT_EQ(values[4].made, 1U);
}

TEST(RunValues, OfAnOverwrittenOutput_EndWhereTheNextBegins) {
  BudgetProblem problem = chain();
  problem.nodes[NodeId(2)].overwrites = NodeId(1);
  problem.nodes[NodeId(2)].extra = Bytes(-2);  // c has 2 bytes, written over 2 of the 3 of b
  const std::vector<NodeId> runs{NodeId(0), NodeId(1), NodeId(2)};
  EXPECT_EQ(text_of(values_of_runs(problem, runs)),
            "0 output 0..3 4; 1 output 1..2 3; 1 scratch 1..2 5; 2 output 2..4 2; 2 scratch 2..3 1; ");
  EXPECT_EQ(text_of(values_of_runs(problem, runs, Overwriting::beside)),
            "0 output 0..3 4; 1 output 1..3 3; 1 scratch 1..2 5; 2 output 2..4 2; ");
}

// While b runs, a is still on its way out. It is back from run 3 on, for c.
TEST(RunValues, OfAnOutputThatComesBack_AreTwo) {
  const BudgetProblem problem{.nodes = {{.reads = {}, .size = Bytes(4)},
                                        {.reads = {}, .size = Bytes(3)},
                                        {.reads = {NodeId(1)}, .size = Bytes(2)},
                                        {.reads = {NodeId(0), NodeId(2)}, .size = Bytes(1), .is_output = true}},
                              .budget = Bytes(0)};
  const CopiesOfRuns copies{.transfers = {{.run = 0, .direction = TransferDirection::out, .issue = 0, .complete = 2},
                                          {.run = 0, .direction = TransferDirection::in, .issue = 2, .complete = 3}}};
  const std::vector<NodeId> runs{NodeId(0), NodeId(1), NodeId(2), NodeId(3)};
  EXPECT_EQ(text_of(values_of_runs(problem, runs, Overwriting::in_place, copies)),
            "0 output 0..2 4; 1 output 1..3 3; 2 output 2..4 2; 0 output 3..4 4; 3 output 3..5 1; ");
}

// Whether a run writes over more bytes than those of which it says so.
bool writes_over_something(const BudgetProblem& problem) {
  const EntryBytes facts(problem);
  IdVector<NodeId, Bytes> rest(problem.nodes.size());
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    const BudgetNode& node = problem.nodes[id];
    rest[id] += node.extra;
    if (node.overwrites && !facts.state[id]) {
      rest[node.part_of.value_or(id)] += problem.nodes[facts.bytes[*node.overwrites]].size;
    }
  }
  return std::any_of(rest.begin(), rest.end(), [](Bytes bytes) { return bytes < Bytes(0); });
}

// `verify` counts the live bytes of an answer independently, and offload's answers have its peak.
TEST(RunValues, WithCopies_AddUpToThePeakOfTheAnswer) {
  StepProblems problems(20261201);
  int moved = 0;
  int fetched = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const BudgetProblem problem = random_swap_steps(problems, 12, 10);
    const TransferLink link = random_link(problems.random());
    const std::vector<NodeId> first = first_runs_of(problem);
    if (first.empty() || writes_over_something(problem)) continue;
    const SwapAnswer answer = offload(problem, link, {first}, {.effort = 200'000});
    if (answer.outcome != BudgetOutcome::found || !check_transfers(problem, link, answer).empty()) continue;
    const CopiesOfRuns copies{.transfers = answer.transfers, .fetches = answer.fetches};
    const std::vector<RunValue> values = values_of_runs(problem, answer.runs, Overwriting::in_place, copies);
    EXPECT_EQ(peak_of_values(values, answer.runs.size()).bytes + state_bytes(problem), answer.peak)
        << "trial " << trial;
    moved += answer.transfers.empty() ? 0 : 1;
    fetched += answer.fetches.empty() ? 0 : 1;
  }
  EXPECT_GT(moved, 50);
  EXPECT_GT(fetched, 50);
}

TEST(RunValues, WithNothing_HaveNoPeak) {
  const RunPeak peak = peak_of_values({}, 0);
  EXPECT_EQ(peak.bytes, Bytes(0));
  EXPECT_TRUE(peak.values.empty());
}

// The checker replays the runs independently, and refuses a peak that is not that of the runs.
TEST(RunValues, OfRandomSequences_AddUpToTheCheckedPeak) {
  Random random(20261130);
  int compared = 0;
  int with_reruns = 0;
  for (int round = 0; round < 4000; ++round) {
    const BudgetProblem problem = random_step_problem(random, 9);
    std::vector<NodeId> runs = runs_by_number(problem);
    const std::size_t once = runs.size();
    for (int again = 0; again < 2 && random.chance(60); ++again) {
      runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(random.below(runs.size() + 1)),
                  runs[random.below(runs.size())]);
    }
    BudgetAnswer answer{.runs = runs};
    for (NodeId run : runs) answer.cost += problem.nodes[run].cost;
    for (NodeId run : runs_by_number(problem)) answer.base_cost += problem.nodes[run].cost;
    answer.cost_bound = answer.base_cost;
    answer.peak = Bytes(-1);
    const auto is_claim = [](const Violation& one) { return one.kind == ViolationKind::wrong_claim; };
    const std::vector<Violation> wrong = check_budget_runs(problem, answer);
    if (!std::all_of(wrong.begin(), wrong.end(), is_claim)) continue;  // the sequence breaks a rule
    answer.peak = peak_of_values(values_of_runs(problem, runs), runs.size()).bytes + state_bytes(problem);
    const std::vector<Violation> left = check_budget_runs(problem, answer);
    EXPECT_TRUE(left.empty()) << left.front().message << ", round " << round;
    ++compared;
    if (runs.size() > once) ++with_reruns;
  }
  EXPECT_GT(compared, 1000);
  EXPECT_GT(with_reruns, 100);
}

}  // namespace
}  // namespace lowtide
