// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/streams.h"

#include <gtest/gtest.h>

#include "lowtide/schedule/parallel/predecessors.h"
#include "tests/schedule/parallel_cases.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::schedule_internal {
namespace {

using testing::Case;
using testing::case_of;
using testing::dense_kernels;
using testing::given_order;
using testing::graph_of;
using testing::kBranches;
using testing::kNoCap;
using testing::names_of;

StreamSchedule spread(const Case& made, StreamOptions options) {
  return schedule_streams(made.graph, made.sequential, made.kernels, made.costs, options);
}

//   stream 0   | a | c | e |      live: a and b, then a, b, c and d
//   stream 1   | b | d |
TEST(Streams, RunBranchesAtOnce) {
  const Case made = case_of(kBranches);
  ASSERT_EQ(made.sequential.load, Bytes(30));
  const StreamSchedule streams = spread(made, {.cap = kNoCap});
  EXPECT_EQ(names_of(made.graph, streams.order), "abcde");
  EXPECT_EQ(streams.stream, (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
  EXPECT_EQ(streams.picoseconds, 30);
  EXPECT_EQ(streams.load, Bytes(40));
  EXPECT_EQ(streams.started_by_end, (std::vector<std::uint32_t>{2, 2, 4, 4, 5}));
  // c reads a, and ends after d has started and before e starts.
  EXPECT_EQ(streams.lifespans[made.sequential.aliases.class_of[testing::tensor_named(made.graph, "a")]],
            (std::vector{Lifespan{StepId(0), StepId(4)}}));
}

// a takes 1, b 2, c 5 and o 1. On two streams, a runs from 0 to 1, b from 1 to 3, c from 1 to 6, and o from 6 to 7.
TEST(Streams, TimesAreThoseOfTheNodes) {
  Case made = case_of(R"(graph "g" {
    input x : u8[10]
    a = Conv(x) : u8[10]
    b = Conv(a) : u8[10]
    c = Conv(a) : u8[10]
    o = Conv(b, c) : u8[10]
    output o
  })");
  for (const auto& [node, cost] : {std::pair(0U, 1), {1U, 2}, {2U, 5}, {3U, 1}}) made.costs[NodeId(node)] = cost;
  EXPECT_EQ(spread(made, {.streams = 2, .cap = kNoCap}).picoseconds, 7);
  EXPECT_EQ(spread(made, {.streams = 1, .cap = kNoCap}).picoseconds, 9);
}

// The branches take 1 + 5 and 5 + 1, and e takes 1. With a barrier after a and b, it would be 5 + 5 + 1.
TEST(Streams, UnevenBranchesDoNotWaitForEachOther) {
  Case made = case_of(kBranches);
  for (const auto& [node, cost] : {std::pair(0U, 1), {1U, 5}, {2U, 5}, {3U, 1}, {4U, 1}}) {
    made.costs[NodeId(node)] = cost;
  }
  EXPECT_EQ(spread(made, {.streams = 2, .cap = kNoCap}).picoseconds, 7);
}

// Within 30 bytes, a and b can run at once, but c and d cannot: while c runs, nothing else starts.
TEST(Streams, KeepWithinACap) {
  const Case made = case_of(kBranches);
  const StreamSchedule streams = spread(made, {.cap = Bytes(30)});
  EXPECT_LE(streams.load, Bytes(30));
  EXPECT_EQ(streams.picoseconds, 40);
}

// The cap is below the sequential load, so the run needs no more than that load.
TEST(Streams, NeverGetStuckBelowTheSequentialLoad) {
  const Case made = case_of(kBranches);
  EXPECT_EQ(spread(made, {.cap = Bytes(1)}).load, Bytes(30));
}

TEST(Streams, OneStreamRunsInSequence) {
  const Case made = case_of(kBranches);
  const StreamSchedule streams =
      spread(made, {.streams = 1, .priority = StreamPriority::given_order, .cap = Bytes(30)});
  EXPECT_EQ(streams.order, made.sequential.order);
  EXPECT_EQ(streams.picoseconds, 50);
  for (AliasClassId id : all_ids<AliasClassId>(streams.lifespans.size())) {
    if (is_placed(made.sequential.aliases.classes[id].kind)) {
      EXPECT_EQ(streams.lifespans[id], (std::vector{made.sequential.aliases.classes[id].lifespan}));
    }
  }
}

// r overwrites a, which s reads, too. So s runs first, although r is on the longest path.
TEST(Streams, ANodeThatOverwritesWaitsForReaders) {
  const Case made = case_of(R"(graph "g" {
    input x : u8[10]
    a = Conv(x) : u8[10]
    s = Conv(a) : u8[10]
    r = Relu(a) : u8[10]
    t = Conv(r) : u8[10]
    u = Conv(t) : u8[10]
    e = Conv(u, s) : u8[10]
    output e
  })");
  const auto class_of = [&](const char* name) {
    return made.sequential.aliases.class_of[testing::tensor_named(made.graph, name)];
  };
  ASSERT_EQ(class_of("a"), class_of("r"));
  EXPECT_EQ(predecessors(made.graph, made.sequential)[NodeId(2)], (std::vector<NodeId>{NodeId(0), NodeId(1)}));
  const StreamSchedule streams = spread(made, {.cap = kNoCap});
  EXPECT_EQ(names_of(made.graph, streams.order), "asrtue");
}

bool covers(const Case& made, const StreamSchedule& streams) {
  for (std::size_t at = 0; at < streams.order.size(); ++at) {
    const NodeId id = streams.order[at];
    const auto lives = [&](TensorId tensor) {
      const AliasClassId alias = made.sequential.aliases.class_of[tensor];
      const std::int64_t begin = made.sequential.aliases.offset_in_class[tensor].position();
      const std::int64_t end = begin + made.graph.tensor(tensor).size.count();
      const std::vector<BufferPart>& parts = made.sequential.aliases.classes[alias].parts;
      std::int64_t part_end = 0;
      for (std::size_t part = 0; part < streams.lifespans[alias].size(); ++part) {
        const std::int64_t part_begin = part_end;
        if (!parts.empty()) part_end += parts[part].size.count();
        const bool is_touched = parts.empty() || (part_begin < end && begin < part_end);
        if (is_touched && !streams.lifespans[alias][part].contains(StepId(static_cast<std::uint32_t>(at))))
          return false;
      }
      return true;
    };
    for (TensorId read : made.graph.reads(id)) {
      if (!lives(read)) return false;
    }
    for (const auto& output : made.graph.node(id).outputs) {
      if (output && !lives(*output)) return false;
    }
  }
  return true;
}

// No run exceeds its cap. Its time is at most the work of all nodes. It is at least that work divided by the streams,
// and at least the work on the longest path.
TEST(Streams, KeepEveryCapAndOrderOnRandomGraphs) {
  int faster = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    Case made{.graph = testing::random_graph(random, 24)};
    made.kernels = dense_kernels(made.graph);
    for (NodeId id : all_ids<NodeId>(made.kernels.size())) made.kernels[id].scratch = Bytes(random.between(0, 40));
    made.sequential.order = given_order(made.graph);
    made.sequential.aliases = alias_classes(made.graph, made.kernels, made.sequential.order);
    made.sequential.load = largest(load_profile(made.sequential.aliases, made.kernels, made.sequential.order));
    std::int64_t work = 0;
    std::int64_t longest_path = 0;
    IdVector<NodeId, std::int64_t> ends(made.graph.nodes().size());
    for (NodeId id : all_ids<NodeId>(made.graph.nodes().size())) {
      made.costs.push_back(random.between(1, 20));
      for (TensorId read : made.graph.reads(id)) {
        if (const auto producer = made.graph.tensor(read).producer) ends[id] = std::max(ends[id], ends[*producer]);
      }
      if (made.sequential.aliases.step_kinds[id] == StepKind::alias) continue;
      work += made.costs[id];
      ends[id] += made.costs[id];
      longest_path = std::max(longest_path, ends[id]);
    }
    for (const std::uint32_t count : {1U, 2U, 3U}) {
      const Bytes cap(made.sequential.load.count() * random.between(100, 200) / 100);
      const auto priority = random.chance(50) ? StreamPriority::longest_path : StreamPriority::given_order;
      const StreamSchedule streams = spread(made, {.streams = count, .priority = priority, .cap = cap});
      ASSERT_TRUE(testing::is_topological(made.graph, streams.order)) << seed;
      ASSERT_TRUE(covers(made, streams)) << seed;
      ASSERT_LE(streams.load, cap) << seed;
      ASSERT_LE(streams.picoseconds, work) << seed;  // something always runs
      ASSERT_GE(streams.picoseconds * count, work) << seed;
      ASSERT_GE(streams.picoseconds, longest_path) << seed;
      if (streams.picoseconds < work) ++faster;
    }
  }
  EXPECT_GT(faster, 200);
}

}  // namespace
}  // namespace lowtide::schedule_internal
