// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>

#include "lowtide/verify/check_transfers.h"

// Copies of values that begin outside, and of parts.
namespace lowtide {
namespace {

constexpr TransferDirection kLeaves = TransferDirection::out;
constexpr TransferDirection kReturns = TransferDirection::in;
constexpr TransferLink kByteLink = {.bytes_per_second = 1'000'000'000};

std::string verdict_of_copies(const BudgetProblem& problem, const SwapAnswer& answer) {
  EXPECT_TRUE(check_budget_problem(problem).ok());
  const std::vector<Violation> found = check_transfers(problem, kByteLink, answer);
  return found.empty() ? "accepted" : std::string(to_string(found[0].kind)) + ": " + found[0].message;
}

// 0 'v' (4 bytes) and 1 'w' (2 bytes) begin outside, and a copy takes 2 + 4 and 1 + 1 ns. 2 'a' (3) reads v, 3 'b' (1)
// reads w and a, and 4 'c' (1) reads v and b. Each run takes 5 ns.
BudgetProblem with_weights(std::int64_t budget) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 100, .fetched_over = 0});
  problem.nodes.push_back({.reads = {}, .size = Bytes(2), .cost = 100, .fetched_over = 1});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(3), .cost = 5});
  problem.nodes.push_back({.reads = {NodeId(1), NodeId(2)}, .size = Bytes(1), .cost = 5});
  problem.nodes.push_back({.reads = {NodeId(0), NodeId(3)}, .size = Bytes(1), .cost = 5});
  problem.links = {{.name = "disk", .bytes_per_second = 1'000'000'000, .latency_nanoseconds = 2},
                   {.name = "peer", .bytes_per_second = 2'000'000'000, .latency_nanoseconds = 1}};
  return problem;
}

// v is fetched for each of its readers: v 0 - 6, w 0 - 2, a 6 - 11, b 11 - 16, v 16 - 22, c 22 - 27.
// Loads: v w a | w a b | v b c.
SwapAnswer fetched_answer() {
  SwapAnswer answer{.outcome = BudgetOutcome::found};
  answer.runs = {NodeId(2), NodeId(3), NodeId(4)};
  answer.fetches = {{.entry = NodeId(0), .issue = 0, .complete = 0, .begin = 0, .end = 6},
                    {.entry = NodeId(1), .issue = 0, .complete = 1, .begin = 0, .end = 2},
                    {.entry = NodeId(0), .issue = 2, .complete = 2, .begin = 16, .end = 22}};
  answer.peak = Bytes(9);
  answer.time = 27;
  answer.base_time = 15;
  answer.time_bound = 15;
  answer.stall_time = 12;
  return answer;
}

TEST(CheckFetches, AcceptsCopiesWithoutARun) {
  EXPECT_EQ(verdict_of_copies(with_weights(9), fetched_answer()), "accepted");
  EXPECT_EQ(verdict_of_copies(with_weights(8), fetched_answer()),
            "out_of_region: run 0 has 9 live bytes, and the budget is 8");
}

// v takes 6 ns over the disk and w 2 ns over the peer, and the shortest run that reads v takes 5 ns.
TEST(CheckFetches, TheLinksNeedTheTimeOfOneCopyOfEachValue) {
  BudgetProblem problem = with_weights(9);
  EXPECT_EQ(least_link_time(problem, kByteLink), 15);  // three runs of 5 ns
  problem.links[0].latency_nanoseconds = 20;
  EXPECT_EQ(least_link_time(problem, kByteLink), 20 + 4 + 5);
  problem.nodes[NodeId(1)].fetched_over = 0;  // w, 2 bytes, over the same link
  EXPECT_EQ(least_link_time(problem, kByteLink), 2 * 20 + 4 + 2 + 5);
}

TEST(CheckFetches, ACopyMayBeginBeforeItIsNeeded) {
  SwapAnswer answer = fetched_answer();
  answer.fetches[2] = {.entry = NodeId(0), .issue = 1, .complete = 2, .begin = 11, .end = 17};
  answer.time = 22;
  answer.stall_time = 7;
  answer.peak = Bytes(10);  // v w a b
  EXPECT_EQ(verdict_of_copies(with_weights(10), answer), "accepted");
  answer = fetched_answer();  // one copy of v stays
  answer.fetches.pop_back();
  answer.time = 21;
  answer.stall_time = 6;
  answer.peak = Bytes(10);
  EXPECT_EQ(verdict_of_copies(with_weights(10), answer), "accepted");
}

TEST(CheckFetches, CopiesOfOneLinkFollowEachOther) {
  BudgetProblem problem = with_weights(9);
  problem.nodes[NodeId(1)].fetched_over = 0;
  SwapAnswer answer = fetched_answer();
  answer.fetches[1].begin = 6;  // behind v, for 2 + 2
  answer.fetches[1].end = 10;
  EXPECT_EQ(verdict_of_copies(problem, answer), "accepted");
}

TEST(CheckFetches, ReportsEveryKindOfDamage) {
  const auto damaged = [](const std::function<void(SwapAnswer&)>& damage) {
    SwapAnswer answer = fetched_answer();
    damage(answer);
    return verdict_of_copies(with_weights(9), answer);
  };
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches[0].entry = NodeId(9); }),
            "malformed: fetch 0 is of a node that does not begin outside");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches[0].entry = NodeId(2); }),
            "malformed: fetch 0 is of a node that does not begin outside");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches[2].complete = 1; }),
            "malformed: fetch 2 has positions 2 and 1, which do not follow each other");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches[2].complete = 4; }),
            "malformed: fetch 2 has positions 2 and 4, which do not follow each other");
  EXPECT_EQ(damaged([](SwapAnswer& it) { std::swap(it.fetches[1], it.fetches[2]); }),
            "malformed: fetch 2 is issued before another one");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.runs.insert(it.runs.begin(), NodeId(0)); }),
            "malformed: run 0 is of node 0, which is fetched by copies beside the runs");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches.erase(it.fetches.begin() + 1); }),
            "missing_step: node 1 is never fetched");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches[0].complete = 1; }),
            "data_flow: run 0 of node 2 needs node 0, which is still on its way");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches.erase(it.fetches.begin()); }),
            "data_flow: run 0 of node 2 needs node 0, which is not fetched before");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches[1] = {.entry = NodeId(0), .issue = 0, .complete = 1}; }),
            "missing_step: node 1 is never fetched");
  EXPECT_EQ(damaged([](SwapAnswer& it) {
              it.fetches[0].complete = 1;
              it.fetches.insert(it.fetches.begin(), it.fetches[0]);
            }),
            "data_flow: fetch 1 is of a value that is on its way already");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches[2].begin = 15; }),
            "wrong_claim: the claimed begin of fetch 2 is 15, but the sequence gives 16");
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.fetches[0].end = 5; }),
            "wrong_claim: the claimed end of fetch 0 is 5, but the sequence gives 6");
}

// c writes over v, and runs twice.
TEST(CheckFetches, AnOverwrittenCopyIsFetchedAgain) {
  BudgetProblem problem = with_weights(9);
  problem.nodes[NodeId(4)].overwrites = NodeId(0);
  problem.nodes[NodeId(4)].extra = Bytes(-1);
  SwapAnswer answer = fetched_answer();
  EXPECT_EQ(verdict_of_copies(problem, answer), "accepted");
  answer.runs.emplace_back(4);
  answer.time = 32;
  answer.stall_time = 12;
  EXPECT_EQ(verdict_of_copies(problem, answer),
            "clobbered: run 3 of node 4 needs node 0, whose bytes run 2 of node 4 has overwritten");
  answer.fetches.push_back({.entry = NodeId(0), .issue = 3, .complete = 3, .begin = 27, .end = 33});
  answer.time = 38;
  answer.stall_time = 18;
  EXPECT_EQ(verdict_of_copies(problem, answer), "accepted");
}

// 0 'a' (4 bytes) with part 1 'm' (2), 2 'b' (5) reads a, 3 'c' (1) reads m. Costs 3, 4, 1. m leaves during nothing: a
// 0 - 3, m out 3 - 5, b 5 - 9, m in 9 - 11, c 11 - 12. Loads: a m | a b | m c.
TEST(CheckFetches, APartLeavesAlone) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(9)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 3});
  problem.nodes.push_back({.reads = {}, .size = Bytes(2), .part_of = NodeId(0)});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(5), .cost = 4});
  problem.nodes.push_back({.reads = {NodeId(1)}, .size = Bytes(1), .cost = 1});
  SwapAnswer answer{.outcome = BudgetOutcome::found};
  answer.runs = {NodeId(0), NodeId(2), NodeId(3)};
  answer.transfers = {
      {.run = 0, .direction = kLeaves, .issue = 0, .complete = 1, .begin = 3, .end = 5, .part = NodeId(1)},
      {.run = 0, .direction = kReturns, .issue = 1, .complete = 2, .begin = 9, .end = 11, .part = NodeId(1)}};
  answer.peak = Bytes(9);
  answer.time = 12;
  answer.base_time = 8;
  answer.time_bound = 8;
  answer.stall_time = 4;
  EXPECT_EQ(verdict_of_copies(problem, answer), "accepted");
  answer.transfers[0].part = NodeId(2);
  EXPECT_EQ(verdict_of_copies(problem, answer), "malformed: transfer 0 is of node 2, which is not a part of its run 0");
}

// The same chain, and b writes over a while a copy of a leaves.
TEST(CheckFetches, ACopyIsCompleteBeforeItsBytesAreOverwritten) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(9)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 3});
  problem.nodes.push_back(
      {.reads = {NodeId(0)}, .size = Bytes(4), .cost = 4, .extra = Bytes(-4), .overwrites = NodeId(0)});
  SwapAnswer answer{.outcome = BudgetOutcome::found};
  answer.runs = {NodeId(0), NodeId(1)};
  answer.transfers = {{.run = 0, .direction = kLeaves, .issue = 0, .complete = 2, .begin = 3, .end = 7}};
  answer.peak = Bytes(4);
  EXPECT_EQ(verdict_of_copies(problem, answer),
            "clobbered: transfer 0 is of an output that run 1 of node 1 overwrites before it is complete");
}

// While b runs, w (2 bytes), a (3) and b (1) are live: 6 of 6 bytes. c reads v again, and v (4) does not fit beside
// them: 4 keep(v) + 2 keep(w) + 3 keep(a) + 1 <= 6. A fetch of v takes no time of a run, so this proves the 15 ns of
// all runs and no more. Of v itself there is no first run before which something must have run.
TEST(CheckTimeBound, RefusesAMilestoneThatBeginsOutside) {
  CostProof proof{.milestones = {NodeId(3)}, .cases = {{}}, .shift = 10};
  proof.cases[0].rows = {{{.rule = PhaseRule::memory, .phase = 0, .node = {}, .reader = {}}, 1 << 10}};
  const TimeBoundCheck accepted = check_time_bound(with_weights(6), kByteLink, {.away = Bytes(0), .proof = proof});
  EXPECT_FALSE(accepted.problem);
  EXPECT_EQ(accepted.proven, 3 * 5);
  proof.milestones = {NodeId(0)};
  const TimeBoundCheck refused = check_time_bound(with_weights(6), kByteLink, {.away = Bytes(0), .proof = proof});
  EXPECT_EQ(refused.problem, "a milestone is a value that begins outside, and never runs");
  EXPECT_EQ(refused.proven, 0);
  // The same among several milestones, and the number of no node.
  proof.milestones = {NodeId(0), NodeId(3)};
  EXPECT_EQ(check_time_bound(with_weights(6), kByteLink, {.away = Bytes(0), .proof = proof}).problem,
            "a milestone is a value that begins outside, and never runs");
  proof.milestones = {NodeId(9)};
  EXPECT_EQ(check_time_bound(with_weights(6), kByteLink, {.away = Bytes(0), .proof = proof}).problem,
            "milestone 0 is a node that does not exist or never runs");
}

}  // namespace
}  // namespace lowtide
