// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "lowtide/budget/offload.h"
#include "tests/budget/swap_problems.h"

namespace lowtide {
namespace {

// f0, f1, f2 of 4 bytes and 3 ns; b0 reads f2, b1 reads f1 and b0, b2 reads f0 and b1; each back 1 byte and 4 ns.
// Milestone b0 needs all f before it and may have f0 and f1 outside: f2 is read by it.
TEST(LeastTimeAway, AddsUpByHand) {
  const BudgetProblem problem = swap_training(3, 9);
  const CostProof milestone{.milestones = {NodeId(3)}, .cases = {}};
  // 4 bytes at 1 byte per ns: f0 exists at 3 and is out at 7, before 9. b1 and b2 take 8, and f0 is in after 4 and
  // then b2 runs, 4 + 4.
  EXPECT_EQ(least_time_away(problem, link_of(1), milestone, Bytes(4)), 9 + 4 + 8);
  // 8 bytes: out at 3 + 8 = 11. The tails of f0 and f1 are 4 (b2) and 8 (b1, b2): the link brings 4 bytes up to 8
  // before the end, and 4 more before that: 4 + 8 = 12.
  EXPECT_EQ(least_time_away(problem, link_of(1), milestone, Bytes(8)), 11 + 4 + 12);
  EXPECT_EQ(least_time_away(problem, link_of(1, 5), milestone, Bytes(8)), 16 + 4 + 17);  // 5 ns latency each way
  EXPECT_EQ(least_time_away(problem, link_of(1), milestone, Bytes(9)), kMaxTime);        // there are only 8
  EXPECT_EQ(least_time_away(problem, link_of(1), CostProof{}, Bytes(1)), kMaxTime);
}

// The milestone m and z read a, and z also reads s. s and z need not run before or after m. 1 byte and 2 ns each. The
// first of s and z that can be outside is s, at 2 + 1. The last one that must come in is z, an output, 1 ns before the
// end.
TEST(LeastTimeAway, CountsNodesAsideOnlyIfTheProofDoes) {
  BudgetProblem problem;
  const auto add = [&](CompactVector<NodeId> reads) {
    problem.nodes.push_back({.reads = std::move(reads), .size = Bytes(1), .cost = 2});
  };
  add({});                      // 0: a
  add({});                      // 1: s
  add({NodeId(0)});             // 2: m
  add({NodeId(0), NodeId(1)});  // 3: z
  problem.nodes[NodeId(3)].is_output = true;
  problem.budget = Bytes(4);
  CostProof proof{.milestones = {NodeId(2)}, .cases = {ProofCase{}}};
  const auto least = [&] { return least_time_away(problem, link_of(1), proof, Bytes(1)); };
  EXPECT_EQ(least(), kMaxTime);
  proof.cases[0].rows = {{{.rule = PhaseRule::memory, .phase = 0, .node = {}, .reader = {}}, 1}};
  EXPECT_EQ(least(), kMaxTime);
  proof.cases[0].rows = {{{.rule = PhaseRule::need, .phase = 0, .node = NodeId(0), .reader = NodeId(3)}, 1}};
  EXPECT_EQ(least(), kMaxTime);  // a must run before m
  proof.cases[0].rows = {{{.rule = PhaseRule::need, .phase = 0, .node = NodeId(1), .reader = NodeId(3)}, 1}};
  EXPECT_EQ(least(), 3 + 2 + 1);
}

}  // namespace
}  // namespace lowtide
