// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/builder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "lowtide/base/limits.h"
#include "lowtide/base/random.h"
#include "tests/graph/refused_builds.h"

namespace lowtide::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

//  x --> n1 --> a --> n0 --> b        given in the order n0, n1; must run in the order n1, n0
TEST(GraphOrder, SortsNodesThatComeBeforeTheirProducers) {
  GraphBuilder builder("g");
  const TensorId x = builder.add_tensor(floats("x"), Role::input);
  const TensorId a = builder.add_tensor(floats("a"));
  const TensorId b = builder.add_tensor(floats("b"));
  builder.add_node({.name = "n0", .type = "Relu", .inputs = {a}, .outputs = {b}});
  builder.add_node({.name = "n1", .type = "Relu", .inputs = {x}, .outputs = {a}});
  builder.set_outputs({b});
  const Graph graph = std::move(builder).build().value();
  EXPECT_EQ(graph.node(NodeId(0)).name, "n1");
  EXPECT_EQ(graph.node(NodeId(1)).name, "n0");
  EXPECT_EQ(graph.tensor(a).producer, NodeId(0));
  EXPECT_EQ(graph.tensor(b).producer, NodeId(1));
}

TEST(GraphOrder, ControlInputsSortNodesAndFollowThem) {
  GraphBuilder builder("g");
  builder.add_node({.name = "second", .type = "A", .control_inputs = {NodeId(1)}});
  builder.add_node({.name = "first", .type = "A"});
  builder.add_node({.name = "third", .type = "A", .control_inputs = {NodeId(0)}});
  const Graph graph = std::move(builder).build().value();
  EXPECT_EQ(graph.node(NodeId(0)).name, "first");
  EXPECT_EQ(graph.node(NodeId(1)).name, "second");
  EXPECT_THAT(graph.node(NodeId(1)).control_inputs, ElementsAre(NodeId(0)));
  EXPECT_THAT(graph.node(NodeId(2)).control_inputs, ElementsAre(NodeId(1)));
}

TEST(GraphOrder, RefusesCyclesOfAnyLengthAndNamesThem) {
  const std::vector<std::pair<std::uint32_t, std::string>> cycles = {
      {1, "1 node: 'n0' -> 'n0'"},
      {2, "2 nodes: 'n0' -> 'n1' -> 'n0'"},
      {8, "8 nodes: 'n0' -> 'n1' -> 'n2' -> 'n3' -> 'n4' -> 'n5' -> 'n6' -> 'n7' -> 'n0'"},
      {100'000, "100000 nodes: 'n0' -> 'n1' -> 'n2' -> 'n3' -> 'n4' -> 'n5' -> 'n6' -> ... -> 'n99999' -> 'n0'"}};
  for (const auto& [length, text] : cycles) {
    GraphBuilder builder("g");
    std::vector<TensorId> tensors;
    for (std::uint32_t at = 0; at < length; ++at)
      tensors.push_back(builder.add_tensor(floats("t" + std::to_string(at))));
    for (std::uint32_t at = 0; at < length; ++at) {
      builder.add_node({.name = "n" + std::to_string(at),
                        .type = "A",
                        .inputs = {tensors[at]},
                        .outputs = {tensors[(at + 1) % length]}});
    }
    expect_refused(std::move(builder), ErrorCode::invalid,
                   "node 0 'n0': depends on its own result, through a cycle of " + text);
  }
  GraphBuilder builder("g");
  builder.add_node({.name = "self", .type = "A", .control_inputs = {NodeId(0)}});
  expect_refused(std::move(builder), ErrorCode::invalid, "node 0 'self': depends on its own result");
}

//   behind 0 <- a 1 -> b 2 -> c 3 -> a, and c -> d 4 -> b       two cycles of 3 nodes: a b c, and b c d
TEST(GraphOrder, NamesAShortestCycle) {
  GraphBuilder builder("g");
  const auto node = [&](const std::string& name, std::initializer_list<std::uint32_t> before) {
    GraphBuilder::NodeSpec spec{.name = name, .type = "A"};
    for (std::uint32_t id : before) spec.control_inputs.push_back(NodeId(id));
    builder.add_node(spec);
  };
  node("behind", {1});
  node("a", {3, 5});
  node("b", {1, 4});
  node("c", {2});
  node("d", {3});
  node("far", {4});  // a b c d far is a longer cycle through a
  expect_refused(std::move(builder), ErrorCode::invalid,
                 "node 1 'a': depends on its own result, through a cycle of 3 nodes: 'a' -> 'b' -> 'c' -> 'a'");
}

TEST(GraphOrder, SortsAChainGivenBackwardsWithoutRecursion) {
  constexpr std::uint32_t kLength = 200'000;
  GraphBuilder builder("g");
  std::vector<TensorId> tensors = {builder.add_tensor(floats("t0"), Role::input)};
  for (std::uint32_t at = 1; at <= kLength; ++at)
    tensors.push_back(builder.add_tensor(floats("t" + std::to_string(at))));
  for (std::uint32_t at = kLength; at > 0; --at) {
    builder.add_node({.type = "Relu", .inputs = {tensors[at - 1]}, .outputs = {tensors[at]}});
  }
  const Graph graph = std::move(builder).build().value();
  for (std::uint32_t at = 0; at < kLength; ++at) ASSERT_EQ(graph.node(NodeId(at)).outputs[0], tensors[at + 1]);
}

// Compares the sorted order with that of a slow search, which always takes the first node whose producers have run.
TEST(GraphOrder, SortedOrderTakesTheLowestGivenPositionFirst) {
  Random random(7);
  for (int run = 0; run < 500; ++run) {
    const std::size_t count = 1 + random.below(8);
    std::vector<std::size_t> position(count);  // by place in a hidden order: the position of the node
    for (std::size_t at = 0; at < count; ++at) position[at] = at;
    for (std::size_t at = count; at > 1; --at) std::swap(position[at - 1], position[random.below(at)]);
    std::vector<std::set<std::size_t>> before(count);  // by given position
    for (std::size_t late = 0; late < count; ++late) {
      for (std::size_t early = 0; early < late; ++early) {
        if (random.chance(30)) before[position[late]].insert(position[early]);
      }
    }
    std::vector<std::size_t> expected;
    while (expected.size() < count) {
      for (std::size_t node = 0; node < count; ++node) {
        const auto has_run = [&](std::size_t other) { return std::ranges::find(expected, other) != expected.end(); };
        if (!has_run(node) && std::ranges::all_of(before[node], has_run)) {
          expected.push_back(node);
          break;
        }
      }
    }
    GraphBuilder builder("g");
    for (std::size_t at = 0; at < count; ++at) builder.add_tensor(floats("t" + std::to_string(at)));
    for (std::size_t at = 0; at < count; ++at) {
      GraphBuilder::NodeSpec spec{
          .name = std::to_string(at), .type = "A", .outputs = {TensorId(static_cast<std::uint32_t>(at))}};
      for (std::size_t other : before[at]) {
        if (random.chance(50)) {
          spec.inputs.emplace_back(TensorId(static_cast<std::uint32_t>(other)));
        } else {
          spec.control_inputs.emplace_back(static_cast<std::uint32_t>(other));
        }
      }
      builder.add_node(std::move(spec));
    }
    const Graph graph = std::move(builder).build().value();
    for (std::size_t at = 0; at < count; ++at) {
      ASSERT_EQ(graph.node(NodeId(static_cast<std::uint32_t>(at))).name, std::to_string(expected[at])) << run;
    }
  }
}

}  // namespace
}  // namespace lowtide::testing
