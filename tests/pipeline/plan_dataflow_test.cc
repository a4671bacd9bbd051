// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/parallel/plan_dataflow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "lowtide/pipeline/plan_graph.h"
#include "tests/pipeline/odd_targets.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"
#include "tests/verify/interleavings.h"

namespace lowtide::testing {
namespace {

PlannedGraph plan_dataflow(const Graph& graph, PlanOptions options = {}, const Target& target = dense_target()) {
  options.run = ExecutionModel::dataflow;
  return testing::must_plan(graph, options, target);
}

// The steps of nodes, without the copies before them.
std::vector<StepId> steps_of_nodes(const Plan& plan) {
  std::vector<StepId> steps;
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    if (!is_copy(plan.program.steps[id])) steps.push_back(id);
  }
  return steps;
}

// Which node happens before which by edges of the graph alone, in the order of their steps.
std::vector<std::vector<char>> ancestors_of(const Graph& graph, const Plan& plan) {
  const std::vector<StepId> listed = steps_of_nodes(plan);
  const std::size_t steps = listed.size();
  IdVector<NodeId, std::size_t> step_of(steps);
  std::vector<std::vector<char>> is_before(steps, std::vector<char>(steps, 0));
  for (std::size_t at = 0; at < steps; ++at) {
    const NodeId node = *node_of(plan.program.steps[listed[at]]);
    step_of[node] = at;
    std::vector<NodeId> before = {graph.node(node).control_inputs.begin(), graph.node(node).control_inputs.end()};
    for (TensorId read : graph.reads(node)) {
      if (graph.tensor(read).producer) before.push_back(*graph.tensor(read).producer);
    }
    for (NodeId one : before) {
      is_before[at][step_of[one]] = 1;
      for (std::size_t other = 0; other < steps; ++other) is_before[at][other] |= is_before[step_of[one]][other];
    }
  }
  return is_before;
}

// The same, by streams and waits.
std::vector<std::vector<char>> order_of(const Plan& plan) {
  const std::size_t steps = plan.program.steps.size();
  std::vector<std::vector<char>> is_before(steps, std::vector<char>(steps, 0));
  for (std::size_t at = 0; at < steps; ++at) {
    const Step& step = plan.program.steps[StepId(static_cast<std::uint32_t>(at))];
    for (std::size_t other = 0; other < at; ++other) {
      const StepId id(static_cast<std::uint32_t>(other));
      const bool waits = std::find(step.after.begin(), step.after.end(), id) != step.after.end();
      if (!waits && plan.program.steps[id].stream != step.stream) continue;
      is_before[at][other] = 1;
      for (std::size_t one = 0; one < other; ++one) is_before[at][one] |= is_before[other][one];
    }
  }
  const std::vector<StepId> listed = steps_of_nodes(plan);
  std::vector<std::vector<char>> nodes(listed.size());
  for (std::size_t at = 0; at < listed.size(); ++at) {
    for (StepId other : listed) nodes[at].push_back(is_before[listed[at].index()][other.index()]);
  }
  return nodes;
}

struct Block {
  std::int64_t size = 0;
  std::vector<std::size_t> users;
  bool is_kept = false;
};

// Placed buffers without parts, with the nodes that touch them.
std::vector<Block> blocks_of(const Plan& plan) {
  std::vector<Block> blocks(plan.layout.buffers.size());
  for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
    blocks[id.index()] = {plan.layout.buffers[id].size.count(), {}, plan.layout.buffers[id].kind == BufferKind::output};
  }
  std::size_t node = 0;  // a copy belongs to the node that comes after it
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    const auto use = [&](BufferId buffer) { blocks[buffer.index()].users.push_back(node); };
    for (ValueId value : plan.program.steps[id].reads) use(plan.layout.values[value].buffer);
    for (ValueId value : plan.program.steps[id].writes) use(plan.layout.values[value].buffer);
    if (plan.layout.steps[id].scratch) use(*plan.layout.steps[id].scratch);
    node += is_copy(plan.program.steps[id]) ? 0 : 1;
  }
  std::vector<Block> placed;
  for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
    if (plan.layout.buffers[id].placement) placed.push_back(blocks[id.index()]);
  }
  return placed;
}

// Tries all orders of the blocks, and places each block at the lowest free offset. Some order gives the least height.
std::int64_t least_height(const std::vector<Block>& blocks, const std::vector<std::vector<char>>& is_before) {
  const auto is_over = [&](const Block& a, const Block& b) {
    if (a.is_kept) return false;
    for (std::size_t one : a.users) {
      for (std::size_t other : b.users) {
        if (is_before[other][one] == 0) return false;
      }
    }
    return true;
  };
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t least = std::int64_t{1} << 60;
  do {
    std::vector<std::int64_t> offsets(blocks.size(), 0);
    std::int64_t height = 0;
    for (std::size_t at = 0; at < order.size(); ++at) {
      const Block& own = blocks[order[at]];
      for (std::size_t other = 0; other < at; ++other) {
        const Block& block = blocks[order[other]];
        if (is_over(own, block) || is_over(block, own)) continue;
        const std::int64_t begin = offsets[order[other]];
        if (offsets[order[at]] < begin + block.size && begin < offsets[order[at]] + own.size) {
          offsets[order[at]] = begin + block.size;
          other = static_cast<std::size_t>(-1);  // compare with all of them again
        }
      }
      height = std::max(height, offsets[order[at]] + own.size);
    }
    least = std::min(least, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

// A sequence of kBranches needs 3 x 64. In dataflow, a, b, c and d may be live at once. Only e certainly comes after a
// and b, so it uses their bytes: 4 x 64.
TEST(DataflowPlan, BuffersShareWhereTheGraphOrdersThem) {
  const PlannedGraph planned = plan_dataflow(graph_of(kBranches));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(4 * 64));
  ASSERT_EQ(planned.trade_offs.size(), 2U);
  EXPECT_EQ(planned.plan.execution, ExecutionModel::dataflow);
  EXPECT_EQ(planned.trade_offs[0].run, ExecutionModel::sequence);
  EXPECT_EQ(planned.trade_offs[0].arena, Bytes(3 * 64));
  const TradeOff& point = planned.trade_offs[1];
  EXPECT_TRUE(point.is_chosen);
  EXPECT_EQ(point.run, ExecutionModel::dataflow);
  // x to a to c to e on one chain, b and d on another; e waits for d.
  EXPECT_EQ(point.streams, 2U);
  EXPECT_EQ(point.waits, 1);
  // a, c and e one after another; b and d beside them.
  EXPECT_EQ(point.picoseconds, 2 * 1'012'800 + 1'019'840);
}

// A chain has one order only, so nothing is lost: 2 x 64.
TEST(DataflowPlan, AChainNeedsNoMoreThanASequence) {
  const PlannedGraph planned = plan_dataflow(graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) : f32[16]
    b = Conv(a) : f32[16]
    c = Conv(b) : f32[16]
    output c
  })"));
  EXPECT_EQ(planned.plan.program.streams.size(), 1U);
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(2 * 64));
  EXPECT_EQ(planned.trade_offs[1].run, ExecutionModel::dataflow);
}

// Besides the input of 64 bytes, 255 bytes are enough for a sequence but not for dataflow. A sequence does not answer a
// request for dataflow.
TEST(DataflowPlan, ABudgetThatOnlyASequenceMeetsIsNotMet) {
  const PlannedGraph planned = plan_dataflow(graph_of(kBranches), {.budget = Bytes(64 + 255)});
  EXPECT_FALSE(planned.fits());
  EXPECT_EQ(planned.shortfall, Bytes(1));
  EXPECT_FALSE(planned.proven_infeasible);
}

TEST(DataflowPlan, TooManyBuffersAreRefused) {
  GraphBuilder builder("many");
  TensorId last = builder.add_tensor({.name = "x", .shape = Shape({4})}, Role::input);
  for (std::size_t at = 0; at <= pipeline_internal::kMostDataflowParts; ++at) {
    const TensorId next = builder.add_tensor({.name = "t" + std::to_string(at), .shape = Shape({4})});
    builder.add_node({.type = "Conv", .inputs = {last}, .outputs = {next}});
    last = next;
  }
  builder.set_outputs({last});
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph.ok());
  const Result<PlannedGraph> planned = plan_graph(*graph, dense_target(), {.run = ExecutionModel::dataflow});
  ASSERT_FALSE(planned.ok());
  EXPECT_EQ(planned.error().code, ErrorCode::over_limit);
  EXPECT_EQ(planned.error().message,
            "dataflow has 8193 buffers and parts, which is above the limit of 8192 (kMostDataflowParts); plan for "
            "streams or waves "
            "instead");
}

// The plan's streams and waits order what the graph orders, and nothing else. Every run of the plan is correct. For
// small plans, brute force finds no lower offsets.
TEST(DataflowPlan, PlansOfRandomGraphsAreCorrect) {
  int parallel = 0;
  int larger = 0;
  int packed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Graph graph = random_graph(random, static_cast<int>(random.between(4, 8)));
    const PlannedGraph planned = plan_dataflow(graph, {.parts = random.chance(50)}, random_target(random));
    const Plan& plan = planned.plan;
    const std::vector<std::vector<char>> is_before = ancestors_of(graph, plan);
    ASSERT_EQ(order_of(plan), is_before) << seed << "\n" << print_graph(graph);
    if (plan.program.streams.size() > 1) {
      ++parallel;
      ASSERT_EQ(fault_of_some_run(graph, plan), "") << seed;
    }
    if (planned.trade_offs[1].arena > planned.trade_offs[0].arena) ++larger;
    const std::vector<Block> blocks = blocks_of(plan);
    const bool has_parts = std::any_of(plan.layout.buffers.begin(), plan.layout.buffers.end(),
                                       [](const Buffer& one) { return !one.parts.empty(); });
    if (has_parts || blocks.size() > 7 || plan.machine.regions.size() > 1) continue;
    ++packed;
    ASSERT_EQ(arena_bytes(plan), Bytes(least_height(blocks, is_before))) << seed;
  }
  EXPECT_GT(parallel, 100);
  EXPECT_GT(larger, 50);
  EXPECT_GT(packed, 100);
}

}  // namespace
}  // namespace lowtide::testing
