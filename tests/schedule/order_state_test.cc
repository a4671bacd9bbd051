// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/order_state.h"

#include <gtest/gtest.h>

#include <set>

#include "lowtide/schedule/orders/order_contraction.h"
#include "tests/schedule/order_problems.h"

namespace lowtide::schedule_internal {
namespace {

using Index = OrderProblem::Index;

// The state with the same set, reached from the start.
OrderState fresh(const OrderProblem& problem, const OrderState& state) {
  OrderState out(problem);
  for (Index node = 0; node < problem.nodes.size(); ++node) {
    if (state.has_run(node)) out.run(node);
  }
  return out;
}

void expect_same(const OrderProblem& problem, OrderState& state) {
  OrderState other = fresh(problem, state);
  EXPECT_EQ(state.live(), other.live());
  EXPECT_EQ(state.left(), other.left());
  EXPECT_EQ(state.hash(), other.hash());
  EXPECT_EQ(state.words(), other.words());
  const std::set<Index> ready(state.ready().begin(), state.ready().end());
  EXPECT_EQ(ready, std::set<Index>(other.ready().begin(), other.ready().end()));
  for (Index node : ready) {
    EXPECT_EQ(state.effect_of(node).load, other.effect_of(node).load);
    EXPECT_EQ(state.effect_of(node).change, other.effect_of(node).change);
  }
}

// Moves back and forth, by single steps and by jumps. The state always equals one that is reached from the start. Half
// of the problems have joined nodes of several steps.
TEST(OrderState, DependsOnTheSetAlone) {
  Random random(71);
  for (int round = 0; round < 400; ++round) {
    OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 12, .edge_percent = 25});
    if (random.chance(50)) problem = contracted(problem, 3);
    OrderState state(problem);
    std::vector<std::vector<std::uint64_t>> met = {state.words()};
    for (int step = 0; step < 40; ++step) {
      if (random.chance(20)) {
        state.go_to(met[random.below(met.size())].data());
      } else if (!state.ready().empty()) {
        for (Index node : state.ready()) (void)state.effect_of(node);
        const Index node = state.ready()[random.below(state.ready().size())];
        state.run(node);
        if (random.chance(30)) state.undo(node);
      }
      met.push_back(state.words());
      expect_same(problem, state);
      if (HasFailure()) FAIL() << "round " << round << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace lowtide::schedule_internal
