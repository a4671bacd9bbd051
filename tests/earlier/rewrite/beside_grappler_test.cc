// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/beside_grappler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "weak_graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

BesideGrappler beside(const std::vector<DefNode>& nodes, std::int64_t memory,
                      std::optional<TransferLink> link = std::nullopt, std::int64_t points = 0) {
  const LeanGraphDefOptions options{.cluster = gpu_with(memory),
                                    .ends = {.feeds = {}, .fetches = {nodes.back().name}},
                                    .effort = 500'000'000,
                                    .link = link};
  const ProtoMessage graphdef = with_nodes({}, nodes);
  Result<BesideGrappler> found =
      plan_beside_grappler(graphdef, lean_graphdef(graphdef, options).value(), {.lean = options, .points = points});
  if (!found) throw std::runtime_error(found.error().describe());
  return *std::move(found);
}

std::vector<std::string> weaknesses(const BesideGrappler& one) {
  std::vector<std::string> names;
  for (const GrapplerShortfall& shortfall : one.shortfalls) names.push_back(shortfall.weakness);
  return names;
}

// 10 Relu fit as they are: 13 tensors. Grappler still recomputes them.
TEST(BesideGrappler, SaysWhatIsNotNeeded) {
  const BesideGrappler one = beside(chain(10, "Relu"), 13 * kTensor);
  EXPECT_EQ(one.given.peak_bytes, 13 * kTensor);
  EXPECT_THAT(weaknesses(one), Contains("it recomputes without need"));
  EXPECT_THAT(weaknesses(one), Not(Contains("it stops above the memory and does not say so")));
  EXPECT_THAT(weaknesses(one), Not(Contains("each late reader has its own copies")));
  EXPECT_THAT(one.lean.recomputed, IsEmpty());
  EXPECT_THAT(one.curve, IsEmpty());
}

// The figures are those of docs/baselines.md.
TEST(BesideGrappler, SaysWhatFallsShort) {
  const BesideGrappler one = beside(chain(8, "MatMul"), 7 * kTensor,
                                    TransferLink{.bytes_per_second = 4'000'000'000, .latency_nanoseconds = 20'000});
  EXPECT_EQ(one.grappler_run.peak_bytes, 9 * kTensor);
  EXPECT_EQ(one.grappler_run.nanoseconds / 1000, 19055);
  EXPECT_EQ(one.lean_run.peak_bytes, 7 * kTensor);
  EXPECT_EQ(one.lean_run.nanoseconds, one.lean.answer.cost);
  const auto excess =
      std::ranges::find(one.shortfalls, "it stops above the memory and does not say so", &GrapplerShortfall::weakness);
  ASSERT_NE(excess, one.shortfalls.end());
  EXPECT_EQ(excess->grappler, "1.91 MiB too much");  // 2,000,000 B
  EXPECT_EQ(excess->lowtide, "6.68 MiB in 18.99 ms");
  EXPECT_THAT(weaknesses(one), Contains("every link is taken for one of 16 GB/s without latency"));
  EXPECT_THAT(weaknesses(one), Contains("it has no bound"));
}

// The gradients read "f0:0" to "f3:0", and f1 is random and hinted.
TEST(BesideGrappler, NamesTheNodes) {
  std::vector<DefNode> nodes = chain(4, "Relu");
  for (DefNode& node : nodes) {
    if (node.op == "Mul") node.inputs[1] += ":0";
  }
  nodes[2].op = "Multinomial";
  set_true(nodes[2], "_recompute_hint");
  const BesideGrappler one = beside(nodes, 3 * kTensor);
  const auto row = [&](const std::string& weakness) {
    const auto found = std::ranges::find(one.shortfalls, weakness, &GrapplerShortfall::weakness);
    return found == one.shortfalls.end() ? std::string("absent") : found->grappler;
  };
  EXPECT_THAT(row("only bare names are redirected"), HasSubstr("'f3:0', 'f2:0'"));
  EXPECT_EQ(row("what may give another result runs again"), "'f1'");
}

// Five memories from 11 tensors on, until nothing is found. Less memory takes no less time.
TEST(BesideGrappler, HasACurve) {
  const BesideGrappler one = beside(chain(8, "MatMul"), 7 * kTensor, std::nullopt, 5);
  ASSERT_GE(one.curve.size(), 4U);
  EXPECT_EQ(one.curve.front().memory_bytes, 11 * kTensor);
  EXPECT_EQ(one.curve.front().reruns, 0);
  for (std::size_t at = 1; at < one.curve.size(); ++at) {
    EXPECT_LT(one.curve[at].memory_bytes, one.curve[at - 1].memory_bytes);
    EXPECT_GE(one.curve[at].answer.cost, one.curve[at - 1].answer.cost);
    EXPECT_GE(one.curve[at].answer.cost_bound, one.curve[at - 1].answer.cost_bound);
    EXPECT_LE(one.curve[at].answer.cost_bound, one.curve[at].answer.cost);
  }
  EXPECT_GT(one.curve.back().reruns, 0);
}

// The last of twenty memories is hardly more than what always stays, so the steps end at one without a sequence.
TEST(BesideGrappler, KeepsTheMemoryForWhichNothingWasFound) {
  const BesideGrappler one = beside(chain(8, "MatMul"), 7 * kTensor, std::nullopt, 20);
  ASSERT_TRUE(one.missed.has_value());
  EXPECT_NE(one.missed->answer.outcome, BudgetOutcome::found);
  EXPECT_LT(one.missed->memory_bytes, one.curve.back().memory_bytes);
}

}  // namespace
}  // namespace lowtide::testing
