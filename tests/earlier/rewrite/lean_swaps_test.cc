// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs whose outputs leave the device and come back. Each graph that is written is run again by replay_graphdef,
// which knows only its inputs and control inputs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "float_graphs.h"
#include "lowtide/base/random.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/rewrite/lean_graphdef.h"
#include "lowtide/earlier/rewrite/planner_runs.h"
#include "lowtide/earlier/rewrite/timed_run.h"
#include "replayed_graphdef.h"

namespace lowtide::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kTensorBytes = 4000;  // of each tensor: 1000 f32

// A node of 1,000 operations or a little more takes some 10 us.
Cluster gpu(std::int64_t memory) { return one_gpu(memory, 1, 1'000'000); }

constexpr TransferLink kFast{.bytes_per_second = 4'000'000'000, .latency_nanoseconds = 100};

DefNode swapped_node(std::string name, std::string op, std::vector<std::string> inputs) {
  return node_of_floats(std::move(name), std::move(op), std::move(inputs), {10, 100});
}

LeanGraphDef lean_with(const std::vector<DefNode>& nodes, std::int64_t memory, const std::string& fetch,
                       std::optional<TransferLink> link) {
  const RunEnds ends = with_placeholders(nodes, {.feeds = {}, .fetches = {fetch}}).value();
  Result<LeanGraphDef> result =
      lean_graphdef(with_nodes({}, nodes), {.cluster = gpu(memory), .ends = ends, .effort = 5'000'000, .link = link});
  if (!result) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

// The graph computes the same, keeps the memory, and takes as long as the answer says.
void expect_true(const std::vector<DefNode>& nodes, const LeanGraphDef& lean, const std::string& fetch,
                 const TransferLink& link) {
  const std::vector<DefNode> written = nodes_of_graphdef(lean.graphdef);
  Meanings meanings;
  EXPECT_EQ(meanings.of(nodes, fetch), meanings.of(written, fetch));
  const RunEnds ends = with_placeholders(written, {.feeds = {}, .fetches = {fetch}}).value();
  const ReplayedGraphDef replayed = replay_graphdef(written, gpu(0), ends, link);
  EXPECT_LE(replayed.peak_bytes, lean.peak.count());
  EXPECT_EQ(replayed.nanoseconds, lean.answer.cost);
}

const DefNode& node_named(const std::vector<DefNode>& nodes, const std::string& name) {
  const auto found = std::ranges::find(nodes, name, &DefNode::name);
  if (found == nodes.end()) throw std::runtime_error("no node " + name);
  return *found;
}

// r reads w, which u writes, so it runs once. b reads it at once, and g at the end. In between, v, b, c and d are live:
// with r and w that is 6 tensors, so for 5 of them r must leave.
std::vector<DefNode> with_late_reader() {
  return {swapped_node("v", "VariableV2", {}),  swapped_node("w", "VariableV2", {}),
          swapped_node("r", "Exp", {"w"}),      swapped_node("b", "Exp", {"r"}),
          swapped_node("c", "Mul", {"b", "v"}), swapped_node("d", "Mul", {"c", "b"}),
          swapped_node("e", "Exp", {"d"}),      swapped_node("f", "Exp", {"e"}),
          swapped_node("g", "Mul", {"f", "r"}), swapped_node("u", "AssignAdd", {"w", "g"})};
}

TEST(LeanSwaps, MoveWhatCannotRunAgain) {
  const std::vector<DefNode> nodes = with_late_reader();
  EXPECT_NE(lean_with(nodes, 5 * kTensorBytes, "u", std::nullopt).answer.outcome, BudgetOutcome::found);
  const LeanGraphDef moved = lean_with(nodes, 5 * kTensorBytes, "u", kFast);
  ASSERT_EQ(moved.answer.outcome, BudgetOutcome::found);
  expect_true(nodes, moved, "u", kFast);
  ASSERT_THAT(moved.swaps, ::testing::SizeIs(1));
  EXPECT_EQ(moved.swaps[0].node, "r");
  EXPECT_EQ(moved.swaps[0].bytes, Bytes(kTensorBytes));
  EXPECT_EQ(moved.swaps[0].returns, 1);
  const std::vector<DefNode> written = nodes_of_graphdef(moved.graphdef);
  const DefNode& out = node_named(written, "swap_out/r");
  EXPECT_EQ(out.op, "_CopyFromGpuToHost");
  EXPECT_EQ(out.device, "/gpu:0");
  EXPECT_EQ(out.inputs.front(), "r");
  EXPECT_EQ(attribute_type(out, "T"), 1);
  EXPECT_FALSE(has_attribute(out, "_class"));
  const DefNode& in = node_named(written, "swap_in/r");
  EXPECT_EQ(in.op, "_CopyFromHostToGpu");
  EXPECT_EQ(in.inputs.front(), "swap_out/r");
  EXPECT_THAT(node_named(written, "g").inputs, Contains("swap_in/r"));
  EXPECT_THAT(node_named(written, "b").inputs, Contains("r"));
}

// Without a device, the copies are colocated with the node.
TEST(LeanSwaps, StayWithTheirNode) {
  std::vector<DefNode> nodes = with_late_reader();
  for (DefNode& node : nodes) node.device.clear();
  const LeanGraphDef moved = lean_with(nodes, 5 * kTensorBytes, "u", kFast);
  const std::vector<DefNode> written = nodes_of_graphdef(moved.graphdef);
  EXPECT_TRUE(has_attribute(node_named(written, "swap_out/r"), "_class"));
  EXPECT_TRUE(has_attribute(node_named(written, "swap_in/r"), "_class"));
}

// n has a loss of 40 bytes and a gradient, n:1, which c and g read. Only the gradient is read after the return, so it
// alone has copies. Names that are taken get a number.
TEST(LeanSwaps, CopyEachOutputThatIsRead) {
  std::vector<DefNode> nodes = with_late_reader();
  nodes[2] = swapped_node("n", "SoftmaxCrossEntropyWithLogits", {"w", "w"});
  nodes[3].inputs = {"n:1"};
  nodes[8].inputs = {"f", "n:1"};
  nodes.push_back(swapped_node("swap_out/n/1", "Exp", {"v"}));
  const std::int64_t memory = 5 * kTensorBytes + 40;
  const LeanGraphDef moved = lean_with(nodes, memory, "u", kFast);
  ASSERT_EQ(moved.answer.outcome, BudgetOutcome::found);
  const std::vector<DefNode> written = nodes_of_graphdef(moved.graphdef);
  EXPECT_THAT(node_named(written, "swap_out_2/n/1").inputs, Contains("n:1"));
  EXPECT_THAT(node_named(written, "g").inputs, Contains("swap_in/n/1"));
  Meanings meanings;
  EXPECT_EQ(meanings.of(nodes, "u"), meanings.of(written, "u"));
}

// f is fetched and made early, and the nodes after it need memory. A fetched output stays, so with v, w and f, and r
// that leaves, 6 tensors are enough for c and d.
TEST(LeanSwaps, DoNotMoveWhatIsFetched) {
  std::vector<DefNode> nodes = with_late_reader();
  nodes.push_back(swapped_node("q", "Tanh", {"w"}));
  nodes[3].inputs = {"r", "^q"};  // q is there before b
  const RunEnds ends{.feeds = {}, .fetches = {"u", "q"}};
  for (std::int64_t tensors = 6; tensors <= 8; ++tensors) {
    const LeanGraphDef moved =
        lean_graphdef(with_nodes({}, nodes),
                      {.cluster = gpu(tensors * kTensorBytes), .ends = ends, .effort = 200'000'000, .link = kFast})
            .value();
    ASSERT_EQ(moved.answer.outcome, BudgetOutcome::found) << tensors;
    for (const LeanSwap& swap : moved.swaps) EXPECT_NE(swap.node, "q");
    const std::vector<DefNode> written = nodes_of_graphdef(moved.graphdef);
    EXPECT_LE(replay_graphdef(written, gpu(0), ends, kFast).peak_bytes, moved.peak.count());
    EXPECT_LE(moved.peak.count(), tensors * kTensorBytes);
  }
}

TEST(LeanSwaps, NeedAGpu) {
  Cluster cpu = gpu(4 * kTensorBytes);
  cpu.devices[0].type = "CPU";
  const Result<LeanGraphDef> refused = lean_graphdef(
      with_nodes({}, with_late_reader()), {.cluster = cpu, .ends = {.feeds = {}, .fetches = {"u"}}, .link = kFast});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), HasSubstr("is no GPU"));
}

// Forward nodes, some of which read a variable that the last node writes, and gradients that read them in reverse.
std::vector<DefNode> random_training(Random& chance) {
  const std::vector<std::string> ops = {"Relu", "Square", "Exp", "Mul", "AddN", "Written", "Tanh", "AddN"};
  std::vector<DefNode> nodes = {swapped_node("w", "VariableV2", {}), swapped_node("x", "Placeholder", {})};
  const std::size_t count = 4 + chance.below(10);
  for (std::size_t at = 0; at < count; ++at) {
    std::string op = ops[chance.below(ops.size())];
    const auto operand = [&] {
      return nodes[nodes.size() - 1 - chance.below(std::min<std::size_t>(nodes.size(), 4))].name;
    };
    std::vector<std::string> inputs = {operand()};
    if (op == "Written") {
      op = "Mul";
      inputs.emplace_back("w");
    } else if (op == "Mul") {
      inputs.push_back(operand());
    } else if (op == "AddN") {
      for (int more = 0; more < 3; ++more) inputs.push_back(operand());
    }
    nodes.push_back(swapped_node("f" + std::to_string(at), op, std::move(inputs)));
  }
  nodes.push_back(swapped_node("gradients/g" + std::to_string(count), "Square", {nodes.back().name}));
  for (std::size_t at = count; at-- > 0;) {
    nodes.push_back(
        swapped_node("gradients/g" + std::to_string(at), "Mul", {nodes.back().name, "f" + std::to_string(at)}));
  }
  nodes.push_back(swapped_node("u", "AssignAdd", {"w", nodes.back().name}));
  return nodes;
}

// From what no order keeps to what needs nothing. Each graph that is written keeps the memory in the time of the
// answer, and with a link it never takes longer than without.
TEST(LeanSwaps, AreTrueOnRandomGraphs) {
  Random chance(23);
  std::size_t moved = 0;
  std::size_t sums = 0;
  std::size_t reruns = 0;
  for (int graph = 0; graph < 12; ++graph) {
    const std::vector<DefNode> nodes = random_training(chance);
    const std::string fetch = nodes.back().name;
    const LeanGraphDef plain = lean_with(nodes, 0, fetch, std::nullopt);
    const TransferLink link{.bytes_per_second = std::int64_t{20'000'000} << chance.below(8),
                            .latency_nanoseconds = static_cast<std::int64_t>(chance.below(2000))};
    for (const std::int64_t percent : {65, 85}) {
      const std::int64_t memory = plain.peak.count() * percent / 100;
      const LeanGraphDef without = lean_with(nodes, memory, fetch, std::nullopt);
      const LeanGraphDef with = lean_with(nodes, memory, fetch, link);
      if (without.answer.outcome == BudgetOutcome::found) {
        expect_true(nodes, without, fetch, link);
        EXPECT_LE(without.peak.count(), memory);
        EXPECT_EQ(with.answer.outcome, BudgetOutcome::found) << graph << " " << percent;
        EXPECT_LE(with.answer.cost, without.answer.cost) << graph << " " << percent;
      }
      if (with.answer.outcome != BudgetOutcome::found) continue;
      expect_true(nodes, with, fetch, link);
      EXPECT_LE(with.peak.count(), memory);
      EXPECT_LE(with.answer.cost_bound, with.answer.cost);
      moved += with.swaps.size();
      sums += with.sums.size() + without.sums.size();
      reruns += with.recomputed.size() + without.recomputed.size();
    }
  }
  EXPECT_GT(moved, 20U);
  EXPECT_GT(sums, 3U);
  EXPECT_GT(reruns, 10U);
}

// The clock of the program and that of the tests agree on graphs of both planners.
TEST(TimedRun, IsThatOfASlowReplay) {
  Random chance(31);
  std::int64_t copies = 0;
  for (int graph = 0; graph < 60; ++graph) {
    const std::vector<DefNode> nodes = random_training(chance);
    const RunEnds ends = with_placeholders(nodes, {.feeds = {}, .fetches = {"u"}}).value();
    const std::int64_t memory = replay_graphdef(nodes, gpu(0), ends).peak_bytes * 7 / 10;
    const GrapplerResult made =
        run_grappler(with_nodes({}, nodes),
                     {.level = GrapplerLevel::heuristics, .feeds = {}, .fetches = {"u"}, .cluster = gpu(memory)})
            .value();
    const TransferLink link{.bytes_per_second = std::int64_t{20'000'000} << chance.below(8),
                            .latency_nanoseconds = static_cast<std::int64_t>(chance.below(2000))};
    for (const std::vector<DefNode>& one : {nodes, nodes_of_graphdef(made.graphdef)}) {
      const ReplayedGraphDef slow = replay_graphdef(one, gpu(0), ends, link);
      const TimedRun run = time_run(one, {.cluster = gpu(0), .ends = ends, .link = link}).value();
      EXPECT_EQ(run.peak_bytes, slow.peak_bytes) << graph;
      EXPECT_EQ(run.nanoseconds, slow.nanoseconds) << graph;
      EXPECT_EQ(run.ins, static_cast<std::int64_t>(slow.ins)) << graph;
      EXPECT_EQ(run.outs, static_cast<std::int64_t>(slow.outs)) << graph;
      copies += run.ins;
    }
  }
  EXPECT_GT(copies, 20);
}

// Grappler may recompute, split sums and swap, on a device with memory for 70 % of the peak. Its graph runs over a link
// of the speed that it assumes. Within the bytes that this run needs, Lowtide's plan never takes longer.
TEST(LeanSwaps, NeverNeedMoreThanGrappler) {
  Random chance(29);
  std::size_t faster = 0;
  std::size_t swaps = 0;
  for (int graph = 0; graph < 200; ++graph) {
    const std::vector<DefNode> nodes = random_training(chance);
    const RunEnds ends = with_placeholders(nodes, {.feeds = {}, .fetches = {"u"}}).value();
    const std::int64_t memory = replay_graphdef(nodes, gpu(0), ends).peak_bytes * 7 / 10;
    const GrapplerResult theirs =
        run_grappler(with_nodes({}, nodes),
                     {.level = GrapplerLevel::heuristics, .feeds = {}, .fetches = {"u"}, .cluster = gpu(memory)})
            .value();
    const ReplayedGraphDef run = replay_graphdef(nodes_of_graphdef(theirs.graphdef), gpu(0), ends, kLinkOfGrappler);
    const LeanGraphDef ours = lean_with(nodes, run.peak_bytes, "u", kLinkOfGrappler);
    EXPECT_EQ(ours.answer.outcome, BudgetOutcome::found) << graph;
    EXPECT_LE(ours.answer.cost, run.nanoseconds) << graph;
    expect_true(nodes, ours, "u", kLinkOfGrappler);
    faster += ours.answer.cost < run.nanoseconds ? 1 : 0;
    swaps += run.ins;
  }
  EXPECT_EQ(faster, 183U);  // docs/graphdef.md
  EXPECT_EQ(swaps, 181U);
}

}  // namespace
}  // namespace lowtide::testing
