// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/budget/bound_cost.h"
#include "lowtide/budget/offload.h"
#include "lowtide/budget/transfers/swap_moves.h"
#include "lowtide/budget/transfers/swap_scan.h"
#include "lowtide/budget/transfers/transfer_clock.h"
#include "lowtide/verify/check_transfers.h"
#include "tests/budget/least_time.h"
#include "tests/budget/swap_problems.h"
#include "tests/budget/swap_steps.h"
#include "tests/campaign.h"

// Problems with parts, views, states, updates, seeds, groups and values from outside, and a link.
namespace lowtide {
namespace {

using budget_internal::Item;
using budget_internal::Items;
using budget_internal::ScannedSwaps;
using budget_internal::SwapMoves;
using budget_internal::SwapProblem;
using budget_internal::SwapScan;
using budget_internal::TransferClock;

Items items_of_runs(const SwapProblem& problem, const std::vector<NodeId>& runs) {
  Items items;
  for (NodeId run : runs) items.push_back({.node = run.value(), .is_fetch = problem.is_fetched(run.value())});
  items.push_back({.node = problem.end(), .is_fetch = false});
  return items;
}

SwapAnswer answer_of_swaps(const SwapProblem& problem, const ScannedSwaps& swaps) {
  TransferClock clock(problem);
  SwapAnswer answer{.base_time = problem.base_time, .time_bound = problem.base_time};
  answer.time = clock.time(swaps);
  answer.stall_time = answer.time;
  for (std::size_t at = 0; at + 1 < swaps.runs.size(); ++at) {
    answer.runs.emplace_back(swaps.runs[at]);
    answer.stall_time -= problem.time[swaps.runs[at]];
  }
  answer.transfers = clock.transfers(swaps);
  answer.fetches = clock.fetches();
  answer.peak = Bytes(clock.peak(swaps) + problem.state_bytes);
  return answer;
}

std::string first_violation(const std::vector<Violation>& violations) {
  return violations.empty() ? "" : violations.front().message;
}

// The random moves change sequences, and any items are added: the verifier accepts what the scan accepts, with the same
// live bytes and times.
TEST(SwapSteps, TheVerifierAcceptsWhatTheScanAccepts) {
  StepProblems problems(41);
  int accepted = 0;
  int refused = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const BudgetProblem problem = random_swap_steps(problems, 14, 12);
    const std::vector<NodeId> first = first_runs_of(problem);
    if (first.empty()) continue;
    const TransferLink link = random_link(problems.random());
    const SwapProblem swaps(problem, link);
    SwapScan scan(swaps);
    SwapMoves moves(swaps, problems.random().next());
    ScannedSwaps now;
    ASSERT_TRUE(scan.scan(items_of_runs(swaps, first), now)) << "trial " << trial;
    for (int step = 0; step < 30; ++step) {
      Items candidate = now.items;
      if (problems.random().chance(80)) {
        if (!moves.change(now, candidate)) continue;
      } else {
        const auto entry = static_cast<SwapProblem::Index>(problems.random().below(swaps.count() - 1));
        if (swaps.owner(entry) == SwapProblem::kNone) continue;
        const bool is_fetch = swaps.transfer[entry] < budget_internal::kForever &&
                              (swaps.owner(entry) != entry || swaps.is_fetched(entry) || problems.random().chance(50));
        if (!is_fetch && swaps.owner(entry) != entry) continue;
        candidate.insert(candidate.begin() + static_cast<std::ptrdiff_t>(problems.random().below(candidate.size())),
                         Item{.node = entry, .is_fetch = is_fetch});
      }
      ScannedSwaps next;
      if (!scan.scan(candidate, next)) {
        ++refused;
        continue;
      }
      ++accepted;
      const std::vector<Violation> violations = check_transfers(problem, link, answer_of_swaps(swaps, next));
      ASSERT_TRUE(violations.empty()) << "trial " << trial << ": " << first_violation(violations);
      now = std::move(next);
    }
  }
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(refused, 1000);
}

// Without fetches, what the scan refuses breaks a rule.
TEST(SwapSteps, TheVerifierRefusesWhatTheScanRefuses) {
  StepProblems problems(42);
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const BudgetProblem problem = random_swap_steps(problems, 10, 8);
    std::vector<NodeId> runs = first_runs_of(problem);
    if (runs.empty()) continue;
    const SwapProblem swaps(problem, link_of(1));
    std::swap(runs[problems.random().below(runs.size())], runs[problems.random().below(runs.size())]);
    const Items items = items_of_runs(swaps, runs);
    ScannedSwaps scanned;
    if (SwapScan(swaps).scan(items, scanned)) continue;
    ++refused;
    SwapAnswer answer;
    for (NodeId run : runs) {
      if (!problem.nodes[run].fetched_over) answer.runs.push_back(run);
    }
    for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
      if (problem.nodes[id].fetched_over) answer.fetches.push_back({.entry = id, .issue = 0, .complete = 0});
    }
    const std::vector<Violation> violations = check_transfers(problem, link_of(1), answer);
    const bool is_broken = std::any_of(violations.begin(), violations.end(), [](const Violation& violation) {
      return violation.kind != ViolationKind::wrong_claim && violation.kind != ViolationKind::out_of_region;
    });
    EXPECT_TRUE(is_broken) << "trial " << trial;
  }
  EXPECT_GT(refused, 300);
}

// Against the least time of all histories: nothing is faster, nothing that is possible is called impossible, and no
// bound is above it.
TEST(SwapSteps, IsNearTheLeastTimeOfAllSequences) {
  StepProblems problems(43);
  int compared = 0;
  int equal = 0;
  int impossible = 0;
  int bounds = 0;
  for (int trial = 0; trial < testing::sampled(600); ++trial) {
    const BudgetProblem problem = random_swap_steps(problems, 8, 5);
    const std::vector<NodeId> first = first_runs_of(problem);
    if (first.empty()) continue;
    const TransferLink link = random_link(problems.random());
    const SwapAnswer answer = offload(problem, link, {first}, {.effort = 3'000'000});
    const std::vector<Violation> violations = check_transfers(problem, link, answer);
    ASSERT_TRUE(violations.empty()) << "trial " << trial << ": " << first_violation(violations);
    LeastTime machine(problem, link);
    const std::optional<std::int64_t> least = machine.search(100'000);
    if (machine.is_impossible()) {
      EXPECT_NE(answer.outcome, BudgetOutcome::found) << "trial " << trial;
      ++impossible;
    }
    if (answer.outcome == BudgetOutcome::infeasible) {
      EXPECT_TRUE(check_too_large(problem, answer.obstruction)) << "trial " << trial;
      EXPECT_FALSE(least) << "trial " << trial;
    }
    if (!least) continue;
    ASSERT_EQ(answer.outcome, BudgetOutcome::found) << "trial " << trial;
    ASSERT_GE(answer.time, *least) << "trial " << trial;
    // To the machine, bytes that nothing reads are nothing.
    const bool is_all_read = SwapProblem(problem, link).unread().empty();
    const std::int64_t copies = least_link_time(problem, link);
    ASSERT_LE(answer.time_bound, copies) << "trial " << trial;
    if (is_all_read) {
      ++compared;
      equal += answer.time == *least ? 1 : 0;
      ASSERT_LE(copies, *least) << "trial " << trial;
    }
    BudgetProblem larger = problem;
    for (BudgetNode& node : larger.nodes) node.cost = node.fetched_over ? 0 : node.cost;
    for (std::int64_t away : {0, 1, 3, 6}) {
      larger.budget = problem.budget + Bytes(away);
      std::optional<ProvenCost> proven = bound_cost(larger, first, kMaxTotalCost, 2'000'000);
      if (!proven) continue;
      const std::int64_t moved = least_time_away(problem, link, proven->proof, Bytes(away + 1));
      const std::int64_t kept = proven->cost * link.nanoseconds_per_cost;
      const TimeBoundCheck check =
          check_time_bound(problem, link, {.away = Bytes(away), .proof = std::move(proven->proof)});
      ASSERT_FALSE(check.problem) << *check.problem;
      ASSERT_EQ(check.proven, std::max(copies, std::min(kept, moved))) << "trial " << trial;
      if (is_all_read) {
        ASSERT_LE(check.proven, *least) << "trial " << trial << " away " << away;
      }
      bounds += check.proven > answer.base_time ? 1 : 0;
    }
  }
  EXPECT_GE(compared, testing::sampled(200));
  EXPECT_GE(impossible, testing::sampled(50));
  EXPECT_GE(bounds, testing::sampled(5));
  EXPECT_GE(equal * 100, compared * 98);
}

// Slow links, so that most of the time is that of the first copies. Everything is read, because the machine does not
// copy what nothing reads.
TEST(SwapSteps, BoundsTheTimeByTheFirstCopiesOverEachLink) {
  StepProblems problems(44);
  int compared = 0;
  int raised = 0;
  int optimal = 0;
  for (int trial = 0; trial < testing::sampled(1500); ++trial) {
    BudgetProblem problem = random_swap_steps(problems, 8, 5);
    for (FetchLink& from : problem.links) from.latency_nanoseconds = problems.random().between(0, 30);
    const std::vector<NodeId> first = first_runs_of(problem);
    const TransferLink link = random_link(problems.random());
    if (first.empty() || !SwapProblem(problem, link).unread().empty()) continue;
    const SwapAnswer answer = offload(problem, link, {first}, {.effort = 1'000'000});
    ASSERT_LE(answer.time_bound, least_link_time(problem, link)) << "trial " << trial;
    const std::optional<std::int64_t> least = LeastTime(problem, link).search(100'000);
    if (!least) continue;
    ++compared;
    ASSERT_LE(least_link_time(problem, link), *least) << "trial " << trial;
    if (answer.time_bound == answer.base_time) continue;
    ++raised;
    optimal += answer.is_optimal() ? 1 : 0;
  }
  EXPECT_GE(compared, testing::sampled(300));
  EXPECT_GE(raised, testing::sampled(20));
  EXPECT_GE(optimal, testing::sampled(5));
}

}  // namespace
}  // namespace lowtide
