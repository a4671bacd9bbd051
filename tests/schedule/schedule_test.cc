// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/schedule.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "lowtide/base/random.h"
#include "lowtide/graph/text.h"
#include "lowtide/schedule/orders/order_problem.h"
#include "lowtide/schedule/orders/order_search.h"
#include "lowtide/schedule/orders/order_state.h"
#include "lowtide/share/load.h"
#include "tests/campaign.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::schedule_internal {
namespace {

using testing::dense_kernels;
using testing::graph_of;
using testing::kTwoBranches;
using testing::names_of;

OrderChoice must_schedule(const Graph& graph, const ScheduleOptions& options = {}) {
  Result<OrderChoice> result = schedule(graph, dense_kernels(graph), options);
  EXPECT_TRUE(result.ok());
  return *std::move(result);
}

TEST(DepthFirst, FinishesABranchBeforeTheNext) {
  const Graph graph = graph_of(kTwoBranches);
  const OrderChoice result = must_schedule(graph, {.order = "depth_first"});
  EXPECT_EQ(names_of(graph, result.best.order), "acbde");
  EXPECT_EQ(result.best.load, Bytes(4 * (1 + 100 + 1)));  // c, b and d
}

TEST(GreedyByFreedBytes, PrefersTheNodeThatFreesMost) {
  const Graph graph = graph_of(kTwoBranches);
  const OrderChoice result = must_schedule(graph, {.order = "greedy_by_freed_bytes"});
  EXPECT_EQ(names_of(graph, result.best.order), "acbde");
}

// b adds 2 floats and a adds 100, so the greedy order takes b first.
TEST(GreedyByFreedBytes, PrefersTheSmallestAddition) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[100]
    b = Conv(x) : f32[2]
    c = Conv(a, b) : f32[1]
    output c
  })");
  EXPECT_EQ(names_of(graph, must_schedule(graph, {.order = "greedy_by_freed_bytes"}).best.order), "bac");
}

// Three feature maps f are read again by three large nodes r, whose results are merged in turn, as in a detector. 150
// groups of small nodes can run at nearly any time between, so there are too many orders to visit.
Graph detector() {
  std::string text = R"(graph "detector" {
    input x : f32[64]
    f0 = Conv(x) : f32[60000]
    f1 = Conv(x) : f32[30000]
    f2 = Conv(x) : f32[20000]
    s = Conv(f0, f1, f2) : f32[16]
    r0 = Conv(f0, s) : f32[100000]
    m0 = Conv(r0) : f32[100000]
    r1 = Conv(f1, s) : f32[100000]
    m1 = Conv(m0, r1) : f32[100000]
    r2 = Conv(f2, s) : f32[100000]
    m2 = Conv(m1, r2) : f32[100000]
    h = Conv(m2) : f32[16]
)";
  std::string results = "h";
  for (int group = 0; group < 150; ++group) {
    const std::string n = std::to_string(group);
    const bool is_late = group % 2 == 1;
    text += "a" + n + " = Conv(" + (is_late ? "s" : group % 4 == 0 ? "f1" : "f0") + ") : f32[16]\n";
    text += "b" + n + " = Conv(" + (is_late ? "s" : group % 4 == 0 ? "f2" : "f1") + ") : f32[24]\n";
    text += "c" + n + " = Conv(a" + n + ", b" + n + ") : f32[40]\n";
    text += "d" + n + " = Conv(c" + n + ", b" + n + ", h) : f32[8]\n";
    results += ", d" + n;
  }
  return graph_of(text + "y = Conv(" + results + ") : f32[4]\n output y\n}");
}

// While m1 runs, m0, r1 and either f2 or its result r2 are live. The live-set bound of 300,000 floats counts neither f2
// nor r2, because neither of them is live in every order.
TEST(SearchOrders, BoundsGraphsWithManySmallNodes) {
  const OrderChoice result = must_schedule(detector(), {.bound = Bytes(4 * 300'000), .effort = 100'000'000});
  EXPECT_EQ(result.bound_name, "search");
  EXPECT_GE(result.bound, Bytes(4 * 320'000));
  EXPECT_LE(result.best.load, Bytes(4 * 323'000));
}

TEST(Schedule, KeepsTheBestAndNamesWhatItTried) {
  const OrderChoice result = must_schedule(graph_of(kTwoBranches));
  EXPECT_EQ(result.best.strategy, "depth_first");
  ASSERT_EQ(result.tried.size(), 8U);
  EXPECT_EQ(result.bound, result.best.load);
  EXPECT_EQ(result.bound_name, "search");  // no bound was given, so the search looked too, and found nothing lower
  EXPECT_EQ(result.tried[0], std::pair(std::string("as_given"), Bytes(4 * (100 + 100 + 1))));
}

TEST(Schedule, StopsAtAProvenOptimum) {
  const OrderChoice result = must_schedule(graph_of(kTwoBranches), {.bound = Bytes(4 * 201)});
  EXPECT_EQ(result.tried.size(), 1U);
  EXPECT_EQ(result.best.strategy, "as_given");
}

TEST(Schedule, UnknownOrderIsRefusedWithTheKnownOnes) {
  const Graph graph = graph_of(kTwoBranches);
  const Result<OrderChoice> result = schedule(graph, dense_kernels(graph), {.order = "best"});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("greedy_by_freed_bytes"), std::string::npos);
}

TEST(Schedule, HonoursControlEdges) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[100]
    b = Conv(x) after (a) : f32[2]
    c = Conv(a, b) : f32[1]
    output c
  })");
  for (const std::string& name : schedule_strategies()) {
    EXPECT_EQ(names_of(graph, must_schedule(graph, {.order = name}).best.order), "abc") << name;
  }
}

TEST(Schedule, EveryStrategyGivesATopologicalOrderOfAllNodes) {
  Random random(3);
  for (int round = 0; round < testing::sampled(500); ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(1, 40)));
    Bytes given;
    for (const std::string& name : schedule_strategies()) {
      const Schedule one = must_schedule(graph, {.order = name}).best;
      ASSERT_TRUE(testing::is_topological(graph, one.order)) << name << "\n" << print_graph(graph);
      if (name == "as_given") given = one.load;
    }
    EXPECT_LE(must_schedule(graph).best.load, given);
  }
}

// On most small graphs, some strategy finds the optimum.
TEST(Schedule, ReachesTheOptimumOnMostSmallGraphs) {
  Random random(17);
  int optimal = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(2, 7)));
    const ChosenKernels kernels = dense_kernels(graph);
    Bytes best(std::int64_t{1} << 60);
    testing::for_every_order(graph, [&](const std::vector<NodeId>& order) {
      best = std::min(best, largest(load_profile(alias_classes(graph, kernels, order), kernels, order)));
    });
    const Bytes found = must_schedule(graph).best.load;
    ASSERT_GE(found, best);
    if (found == best) ++optimal;
  }
  EXPECT_GE(optimal, kRounds * 85 / 100);
}

// Limits under which no content is divided, as for a graph that is too large.
constexpr ContentLimits kUndivided{.segments_of_one = 1, .further = 0, .touched = 0};

// In every order, the peak of the problem that gives the bound is at most the measured load.
TEST(Schedule, BoundIsBelowTheLoadOfEveryOrder) {
  Random random(5);
  int met = 0;
  int raised = 0;
  for (int round = 0; round < testing::sampled(400); ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(3, 7)));
    const ChosenKernels kernels = dense_kernels(graph);
    const AliasOptions aliases{.alignment = Bytes(round % 2 == 0 ? 1 : 64)};
    const OrderProblem problem = order_problem(graph, kernels, aliases);
    const OrderProblem undivided = order_problem(graph, kernels, aliases, kUndivided);
    Bytes least(std::numeric_limits<std::int64_t>::max());
    testing::for_every_order(graph, [&](const std::vector<NodeId>& order) {
      const Bytes load = largest(load_profile(alias_classes(graph, kernels, order, aliases), kernels, order, aliases));
      std::vector<OrderProblem::Index> indices;
      for (NodeId id : order) indices.push_back(id.value());
      ASSERT_LE(peak_of(problem, indices), load.count()) << "round " << round;
      ASSERT_LE(peak_of(undivided, indices), load.count()) << "round " << round;
      least = std::min(least, load);
    });
    const OrderChoice result = must_schedule(graph, {.aliases = aliases});
    ASSERT_LE(result.bound, least) << "round " << round;
    ASSERT_GE(result.best.load, least) << "round " << round;
    met += result.bound == result.best.load ? 1 : 0;
    raised += result.bound_name.empty() ? 0 : 1;
  }
  EXPECT_GT(met, testing::sampled(200));
  EXPECT_GT(raised, testing::sampled(200));
}

// While p runs, only 10 floats of x are needed, for the three slices, and p has 1,000. c repeats these 10 floats. If a
// kernel computes c, the slices may be views of x.
TEST(Schedule, BoundCountsRepeatedBytesOfAnUndividedTensorOnce) {
  const Graph graph = graph_of(R"(graph "g" {
    input i : f32[1]
    x = Conv(i) : f32[100]
    s = Slice(x) {starts = [0], ends = [10], axes = [0]} : f32[10]
    t = Slice(x) {starts = [0], ends = [10], axes = [0]} : f32[10]
    u = Slice(x) {starts = [0], ends = [10], axes = [0]} : f32[10]
    p = Conv(i) after (s, t, u) : f32[1000]
    q = Conv(p) : f32[1]
    c = Concat(s, t, u) after (q) {axis = 0} : f32[30]
    y = Conv(c, q) : f32[1]
    output y
  })");
  const ChosenKernels kernels = dense_kernels(graph);
  const AliasOptions aliases{.computing = {NodeId(6)}};
  const std::vector<NodeId> order = testing::given_order(graph);
  const Bytes least(4 * (1000 + 10 + 1));  // at q
  EXPECT_EQ(largest(load_profile(alias_classes(graph, kernels, order, aliases), kernels, order, aliases)), least);
  const OrderProblem problem = order_problem(graph, kernels, {}, kUndivided);
  EXPECT_EQ(Bytes(search_order(problem, {.work = 1'000'000}).bound), least);
}

TEST(Schedule, AChainOfManyNodesNeedsNoStack) {
  GraphBuilder builder("chain");
  TensorId last = builder.add_tensor({.name = "x", .shape = Shape({4})}, Role::input);
  for (int at = 0; at < 200'000; ++at) {
    const TensorId next = builder.add_tensor({.name = "t" + std::to_string(at), .shape = Shape({4})});
    builder.add_node({.type = at % 3 == 0 ? "Reshape" : "Relu", .inputs = {last}, .outputs = {next}});
    last = next;
  }
  builder.set_outputs({last});
  Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph.ok());
  for (const std::string& name : schedule_strategies()) {
    EXPECT_EQ(must_schedule(*graph, {.order = name}).best.load, Bytes(16)) << name;
  }
}

// The search with one power of 2 includes those with lower ones, so the load never rises with the effort.
TEST(SearchOrders, MoreEffortNeverRaisesTheLoad) {
  Random random(58);
  int lowered = 0;
  for (int round = 0; round < testing::sampled(30); ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(10, 30)));
    std::optional<Bytes> before;
    for (std::int64_t effort = 1; effort <= 1 << 18; effort *= 2) {
      const Bytes load = must_schedule(graph, {.effort = effort}).best.load;
      if (before) {
        ASSERT_LE(load, *before) << effort << print_graph(graph);
        lowered += load < *before ? 1 : 0;
      }
      before = load;
    }
    ASSERT_LE(*before, must_schedule(graph, {.order = "as_given"}).best.load);
  }
  EXPECT_GT(lowered, 0);
}

// The load of heuristics, as a search meets it first.
Bytes load_of_heuristics(const Graph& graph) { return must_schedule(graph, {.effort = 0}).best.load; }

TEST(SearchOrders, StopsAtALoadThatIsEnough) {
  Random random(71);
  int lowered = 0;
  for (int round = 0; round < 60; ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(8, 24)));
    const Bytes first = load_of_heuristics(graph);
    const Bytes best = must_schedule(graph, {.effort = 1 << 22}).best.load;
    if (best == first) continue;
    ++lowered;
    EXPECT_EQ(must_schedule(graph, {.effort = 1 << 22, .enough = first}).searched_sets, 0);
    // One byte less, and the search must go on until it has found it.
    const Bytes found = must_schedule(graph, {.effort = 1 << 22, .enough = first - Bytes(1)}).best.load;
    EXPECT_LT(found, first);
    EXPECT_EQ(must_schedule(graph, {.effort = 1 << 22, .enough = best}).best.load, best);
  }
  EXPECT_GT(lowered, 5);
}

TEST(SearchOrders, StopsNearTheBound) {
  Random random(72);
  int lowered = 0;
  for (int round = 0; round < testing::sampled(60); ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(8, 24)));
    const Bytes first = load_of_heuristics(graph);
    const OrderChoice best = must_schedule(graph, {.effort = 1 << 22});
    // The load is above the bound by at most itself, so nothing is searched.
    EXPECT_EQ(must_schedule(graph, {.effort = 1 << 22, .near_share = 1}).searched_sets, 0);
    const OrderChoice near = must_schedule(graph, {.effort = 1 << 22, .near_share = 10});
    EXPECT_LE((near.best.load - near.bound).count(),
              std::max((best.best.load - best.bound).count(), near.best.load.count() / 10));
    EXPECT_LE(near.bound, best.best.load);
    lowered += near.best.load < first ? 1 : 0;
  }
  EXPECT_GT(lowered, 0);
}

}  // namespace
}  // namespace lowtide::schedule_internal
