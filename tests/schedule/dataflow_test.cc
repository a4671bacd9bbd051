// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/dataflow.h"

#include <gtest/gtest.h>

#include "lowtide/schedule/parallel/predecessors.h"
#include "lowtide/share/load.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::schedule_internal {
namespace {

using testing::graph_of;

Schedule schedule_of(const Graph& graph, const ChosenKernels& kernels) {
  Schedule schedule{.order = testing::given_order(graph), .strategy = "as_given", .load = {}, .aliases = {}};
  schedule.aliases = alias_classes(graph, kernels, schedule.order);
  schedule.load = largest(load_profile(schedule.aliases, kernels, schedule.order));
  return schedule;
}

bool are_shared(const Schedule& schedule, const Graph& graph, const char* one, const char* other) {
  return schedule.aliases.class_of[testing::tensor_named(graph, one)] ==
         schedule.aliases.class_of[testing::tensor_named(graph, other)];
}

Dataflow flow_of(const Graph& graph, const Schedule& schedule) {
  Result<Dataflow> flow = dataflow(graph, schedule.order);
  EXPECT_TRUE(flow.ok());
  return *std::move(flow);
}

// s and r read a. r may overwrite a only if s has ended. On one stream, s runs first. In dataflow, no edge orders s and
// r. t is the only reader of r, so it may overwrite r in both.
TEST(Dataflow, OverwritesOnlyIfEdgesOrderTheReaders) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : u8[10]
    a = Conv(x) : u8[10]
    s = Conv(a) : u8[10]
    r = Relu(a) : u8[10]
    t = Relu(r) : u8[10]
    e = Conv(t, s) : u8[10]
    output e
  })");
  const ChosenKernels kernels = testing::dense_kernels(graph);
  const Schedule sequential = schedule_of(graph, kernels);
  ASSERT_TRUE(are_shared(sequential, graph, "a", "r"));
  const Dataflow flow = flow_of(graph, sequential);
  const Schedule shared = share_in_dataflow(graph, flow, sequential, kernels, {});
  EXPECT_FALSE(are_shared(shared, graph, "a", "r"));
  EXPECT_TRUE(are_shared(shared, graph, "r", "t"));
  // While r runs, a, s and r are live.
  EXPECT_EQ(shared.load, Bytes(30));
  // a takes 5, s 7, r and t 1 each, and e 2. The longest path is through s.
  IdVector<NodeId, std::int64_t> costs;
  for (std::int64_t cost : {5, 7, 1, 1, 2}) costs.push_back(cost);
  EXPECT_EQ(longest_path(flow, shared.aliases, costs), 5 + 7 + 2);
}

// A control edge puts r after s, so r may overwrite a.
TEST(Dataflow, OverwritesIfAControlEdgeOrdersTheReaders) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : u8[10]
    a = Conv(x) : u8[10]
    s = Conv(a) : u8[10]
    r = Relu(a) after (s) : u8[10]
    e = Conv(r, s) : u8[10]
    output e
  })");
  const ChosenKernels kernels = testing::dense_kernels(graph);
  const Schedule sequential = schedule_of(graph, kernels);
  const Schedule shared = share_in_dataflow(graph, flow_of(graph, sequential), sequential, kernels, {});
  EXPECT_TRUE(are_shared(shared, graph, "a", "r"));
}

// 1,025 independent nodes need 1,025 chains.
TEST(Dataflow, AGraphThatIsTooWideIsRefused) {
  GraphBuilder builder("wide");
  const TensorId x = builder.add_tensor({.name = "x", .shape = Shape({4})}, Role::input);
  std::vector<TensorId> outputs;
  for (int at = 0; at < 1025; ++at) {
    outputs.push_back(builder.add_tensor({.name = "t" + std::to_string(at), .shape = Shape({4})}));
    builder.add_node({.type = "Conv", .inputs = {x}, .outputs = {outputs.back()}});
  }
  builder.set_outputs(outputs);
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph.ok());
  const Result<Dataflow> flow = dataflow(*graph, testing::given_order(*graph));
  ASSERT_FALSE(flow.ok());
  EXPECT_EQ(flow.error().code, ErrorCode::over_limit);
  EXPECT_EQ(flow.error().message,
            "dataflow needs 1025 chains, above the limit of 1024 streams (kMaxStreams); plan for streams or "
            "waves instead");
}

// All nodes that must end before a node starts, because of data or shared bytes, must be its ancestors.
TEST(Dataflow, SharingNeedsNoOtherOrderOnRandomGraphs) {
  int narrowed = 0;
  int written_over = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const Graph graph = testing::random_graph(random, 16);
    const ChosenKernels kernels = testing::dense_kernels(graph);
    const Schedule sequential = schedule_of(graph, kernels);
    const Schedule shared = share_in_dataflow(graph, flow_of(graph, sequential), sequential, kernels, {});
    IdVector<NodeId, std::vector<char>> is_ancestor(graph.nodes().size(), std::vector<char>(graph.nodes().size(), 0));
    for (NodeId id : shared.order) {
      for (TensorId read : graph.reads(id)) {
        if (!graph.tensor(read).producer) continue;
        const NodeId producer = *graph.tensor(read).producer;
        is_ancestor[id][producer.index()] = 1;
        for (std::size_t at = 0; at < graph.nodes().size(); ++at) is_ancestor[id][at] |= is_ancestor[producer][at];
      }
    }
    const IdVector<NodeId, std::vector<NodeId>> before = predecessors(graph, shared);
    for (NodeId id : shared.order) {
      for (NodeId other : before[id]) ASSERT_TRUE(is_ancestor[id][other.index()]) << seed;
      for (const auto& [input, output] : kernels[id].in_place) {
        const TensorId from = *graph.node(id).inputs[static_cast<std::size_t>(input)];
        const TensorId to = *graph.node(id).outputs[static_cast<std::size_t>(output)];
        if (shared.aliases.class_of[from] == shared.aliases.class_of[to]) ++written_over;
      }
    }
    if (shared.aliases.class_of != sequential.aliases.class_of) ++narrowed;
  }
  EXPECT_GT(narrowed, 50);
  EXPECT_GT(written_over, 200);
}

}  // namespace
}  // namespace lowtide::schedule_internal
