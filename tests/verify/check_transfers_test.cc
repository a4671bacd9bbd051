// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_transfers.h"

#include <gtest/gtest.h>

#include <functional>

namespace lowtide {
namespace {

constexpr TransferDirection kOut = TransferDirection::out;
constexpr TransferDirection kIn = TransferDirection::in;

// a -> b -> c -> d, a -> d. Sizes 4, 2, 5, 1; costs 3, 2, 4, 1. The link moves a byte per ns.
BudgetProblem chain(std::int64_t budget) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 3});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(2), .cost = 2});
  problem.nodes.push_back({.reads = {NodeId(1)}, .size = Bytes(5), .cost = 4});
  problem.nodes.push_back({.reads = {NodeId(0), NodeId(2)}, .size = Bytes(1), .cost = 1});
  return problem;
}

constexpr TransferLink kLink = {.bytes_per_second = 1'000'000'000};

// a leaves after its run, from 3 to 7, and c waits for it from 5 to 7 and ends at 11. a comes back from 11 to 15, and d
// ends at 16. Loads: 4, 6, 7 (b and c), 10 (a, c, d).
SwapAnswer swapped() {
  SwapAnswer answer{.outcome = BudgetOutcome::found};
  answer.runs = {NodeId(0), NodeId(1), NodeId(2), NodeId(3)};
  answer.transfers = {{.run = 0, .direction = kOut, .issue = 0, .complete = 2, .begin = 3, .end = 7},
                      {.run = 0, .direction = kIn, .issue = 2, .complete = 3, .begin = 11, .end = 15}};
  answer.peak = Bytes(10);
  answer.time = 16;
  answer.base_time = 10;
  answer.time_bound = 10;
  answer.stall_time = 6;
  return answer;
}

std::vector<std::string> transfer_kinds(const BudgetProblem& problem, const SwapAnswer& answer,
                                        const TransferLink& link = kLink) {
  std::vector<std::string> result;
  for (const Violation& violation : check_transfers(problem, link, answer)) {
    result.emplace_back(to_string(violation.kind));
  }
  return result;
}

using Kinds = std::vector<std::string>;

TEST(CheckTransfers, AcceptsASequenceByHand) {
  EXPECT_EQ(transfer_kinds(chain(10), swapped()), Kinds{});
  EXPECT_EQ(transfer_kinds(chain(9), swapped()), Kinds{"out_of_region"});
}

TEST(CheckTransfers, CountsBytesWhileACopyIsOnItsWay) {
  // If a is complete only before d, it is live during c, too: a, b, c are 11 bytes.
  SwapAnswer answer = swapped();
  answer.transfers[0].complete = 3;
  EXPECT_EQ(transfer_kinds(chain(11), answer), Kinds{"data_flow"});  // the copy in is issued before that
  // If it comes back during c, it is live from then on: a, b and c again. But then it has not left before.
  answer = swapped();
  answer.transfers[1].issue = 1;
  EXPECT_EQ(transfer_kinds(chain(11), answer), Kinds{"data_flow"});
}

TEST(CheckTransfers, ReportsEveryKindOfDamage) {
  const auto damaged = [](const std::function<void(SwapAnswer&)>& damage) {
    SwapAnswer answer = swapped();
    damage(answer);
    return transfer_kinds(chain(10), answer);
  };
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers[0].run = 9; }), Kinds{"malformed"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers[0].complete = 0; }), Kinds{"malformed"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers[1].complete = 5; }), Kinds{"malformed"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers[0].run = 1; }), Kinds{"malformed"});  // issued before its run
  EXPECT_EQ(damaged([](SwapAnswer& it) { std::swap(it.transfers[0], it.transfers[1]); }), Kinds{"malformed"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers.insert(it.transfers.begin(), it.transfers[0]); }),
            Kinds{"malformed"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers.erase(it.transfers.begin()); }), Kinds{"data_flow"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers.push_back(it.transfers[1]); }), Kinds{"data_flow"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers[1].complete = 4; }), Kinds{"data_flow"});  // d reads it
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.runs.pop_back(); }), Kinds{"missing_step"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { std::swap(it.runs[0], it.runs[1]); }), Kinds{"data_flow"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.runs[3] = NodeId(4); }), Kinds{"malformed"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.time = 15; }), Kinds{"wrong_claim"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.base_time = 11; }), Kinds{"wrong_claim"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.stall_time = 0; }), Kinds{"wrong_claim"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.peak = Bytes(9); }), Kinds{"wrong_claim"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers[0].begin = 2; }), Kinds{"wrong_claim"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.transfers[1].end = 14; }), Kinds{"wrong_claim"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.time_bound = 9; }), Kinds{"wrong_claim"});
  EXPECT_EQ(damaged([](SwapAnswer& it) { it.time_bound = 17; }), Kinds{"wrong_claim"});
}

// Without the copies, a stays: a, b and c are 11 bytes, and the times of the copies are wrong.
TEST(CheckTransfers, CountsBytesThatNeverLeave) {
  SwapAnswer answer = swapped();
  answer.transfers.clear();
  answer.time = 10;
  answer.stall_time = 0;
  answer.peak = Bytes(11);
  EXPECT_EQ(transfer_kinds(chain(11), answer), Kinds{});
  EXPECT_EQ(transfer_kinds(chain(10), answer), Kinds{"out_of_region"});
}

// A copy in waits for the copies out that must be complete before the run after it, even on a link that is free. b
// leaves after a, from 7 to 9, so a can only come back at 9, when nothing else delays it.
TEST(CheckTransfers, LetsACopyInWaitForTheBytesThatLeave) {
  BudgetProblem problem = chain(20);
  problem.nodes[NodeId(2)].cost = 0;
  problem.nodes[NodeId(1)].is_output = true;
  SwapAnswer answer = swapped();
  answer.transfers = {{.run = 0, .direction = kOut, .issue = 0, .complete = 2, .begin = 3, .end = 7},
                      {.run = 1, .direction = kOut, .issue = 1, .complete = 3, .begin = 7, .end = 9},
                      {.run = 0, .direction = kIn, .issue = 2, .complete = 3, .begin = 9, .end = 13},
                      {.run = 1, .direction = kIn, .issue = 3, .complete = 4, .begin = 14, .end = 16}};
  answer.time = 16;  // d ends at 14, and b is back at 16
  answer.base_time = 6;
  answer.time_bound = 6;
  answer.stall_time = 10;
  answer.peak = Bytes(10);  // a, c, d while d runs
  EXPECT_EQ(transfer_kinds(problem, answer), Kinds{});
  answer.transfers[2].begin = 7;
  EXPECT_EQ(transfer_kinds(problem, answer), Kinds{"wrong_claim"});
}

TEST(CheckTransfers, RefusesTimesAboveTheLimits) {
  EXPECT_EQ(transfer_kinds(chain(10), swapped(), {.bytes_per_second = 1, .latency_nanoseconds = kMaxTime}),
            Kinds{"malformed"});
  EXPECT_EQ(transfer_kinds(chain(10), swapped(), {.bytes_per_second = 1, .nanoseconds_per_cost = kMaxTime}),
            Kinds{"malformed"});
}

// With 9 bytes outside, everything fits, so the proof for the larger budget proves nothing.
TEST(CheckTimeBound, RefusesMalformedProofs) {
  EXPECT_TRUE(check_time_bound(chain(10), kLink, {.away = Bytes(-1), .proof = {}}).problem);
  EXPECT_TRUE(check_time_bound(chain(10), kLink, {.away = Bytes(1), .proof = {}}).problem);  // no milestone
  EXPECT_TRUE(check_time_bound(chain(10), kLink, {.away = Bytes(INT64_MAX), .proof = {}}).problem);
}

// While c runs, a does not fit within 9 bytes. keep(a) + rerun(a) >= 1 because d reads it, and 4 keep(a) + 2 keep(b)
// + 5 <= budget + away, keep(b) >= 1. With multipliers 3, 3 / 2 and 3 / 4: for a budget of 9, a rerun costs at least
// 3 + 3 / 2 - 3 / 4 * 4 = 3 / 2, so 2 ns, and 12 ns in all. If a byte or more is outside instead, c begins at 5,
// takes 4, and a byte comes in before d: 5 + 4 + 1 + 1 = 11 ns. With 2 bytes or more, these are 12.
TEST(CheckTimeBound, TakesTheLesserOfKeepingAndMoving) {
  constexpr std::int64_t kOne = 1 << 10;
  CostProof proof{.milestones = {NodeId(2)}, .cases = {}, .shift = 10};
  ProofCase leaf;
  leaf.rows = {{{.rule = PhaseRule::memory, .phase = 0, .node = {}, .reader = {}}, kOne * 3 / 4},
               {{.rule = PhaseRule::read, .phase = 0, .node = NodeId(1), .reader = {}}, kOne * 3 / 2},
               {{.rule = PhaseRule::need, .phase = 0, .node = NodeId(0), .reader = NodeId(3)}, kOne * 3}};
  proof.cases.push_back(leaf);
  EXPECT_EQ(check_time_bound(chain(9), kLink, {.away = Bytes(0), .proof = proof}).proven, 11);
  EXPECT_EQ(check_time_bound(chain(8), kLink, {.away = Bytes(1), .proof = proof}).proven, 12);
  // A fast link moves a byte for nothing, so the larger case is the time without reruns.
  const TransferLink fast = {.bytes_per_second = 100'000'000'000};
  EXPECT_EQ(check_time_bound(chain(9), fast, {.away = Bytes(0), .proof = proof}).proven, 10);
}

}  // namespace
}  // namespace lowtide
