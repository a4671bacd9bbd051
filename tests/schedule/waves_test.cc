// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/waves.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/schedule/parallel/predecessors.h"
#include "tests/schedule/parallel_cases.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::schedule_internal {
namespace {

using testing::Case;
using testing::case_of;
using testing::dense_kernels;
using testing::graph_of;
using testing::kBranches;
using testing::kNoCap;

WaveSchedule group(const Case& made, WaveOptions options) {
  return schedule_waves(made.graph, made.sequential, made.kernels, made.costs, options);
}

// The waves as text, such as "ab|cd|e".
std::string text_of(const Case& made, const WaveSchedule& waves) {
  std::string text;
  for (std::size_t at = 0; at < waves.wave.size(); ++at) {
    if (at > 0 && waves.wave[at] != waves.wave[at - 1]) text += '|';
    text += made.graph.tensor(*made.graph.node(waves.run.order[at]).outputs[0]).name;
  }
  return text;
}

//   wave       0    1    2
//   stream 0 | a  | c  | e |      each wave takes 10; in wave 1, a, b, c and d are live
//   stream 1 | b  | d  |
TEST(Waves, RunBranchesSideBySide) {
  const Case made = case_of(kBranches);
  ASSERT_EQ(made.sequential.load, Bytes(30));
  const WaveSchedule waves = group(made, {.cap = kNoCap});
  EXPECT_EQ(text_of(made, waves), "ab|cd|e");
  EXPECT_EQ(waves.run.stream, (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
  EXPECT_EQ(waves.run.picoseconds, 30);
  EXPECT_EQ(waves.computing, 3U);
  EXPECT_EQ(waves.run.load, Bytes(40));
  EXPECT_EQ(waves.run.started_by_end, (std::vector<std::uint32_t>{2, 2, 4, 4, 5}));
  // b and d, the steps 1 and 3, touch b. It is live until the wave of d ends.
  EXPECT_EQ(waves.run.lifespans[made.sequential.aliases.class_of[testing::tensor_named(made.graph, "b")]],
            (std::vector{Lifespan{StepId(1), StepId(4)}}));
}

// Within 30 bytes, a and b can run at once, but c and d cannot. So there are four waves: a b | c | d | e.
TEST(Waves, KeepWithinACap) {
  const Case made = case_of(kBranches);
  const WaveSchedule waves = group(made, {.cap = Bytes(30)});
  EXPECT_LE(waves.run.load, Bytes(30));
  EXPECT_EQ(waves.run.picoseconds, 40);
}

TEST(Waves, NeverGetStuckBelowTheSequentialLoad) {
  const Case made = case_of(kBranches);
  EXPECT_EQ(group(made, {.cap = Bytes(1)}).run.load, Bytes(30));
}

TEST(Waves, OfOneNodeRunInSequence) {
  const Case made = case_of(kBranches);
  const WaveSchedule waves = group(made, {.most = 1, .priority = StreamPriority::given_order, .cap = kNoCap});
  EXPECT_EQ(waves.run.order, made.sequential.order);
  EXPECT_EQ(waves.run.picoseconds, 50);
  EXPECT_EQ(waves.run.load, Bytes(30));
}

// a costs 90, b 10, c 80, d 10 and e 10. The longest paths from a, c, b and d to the end take 100, 90, 20 and 20.
//   by longest path             a c | b d | e     90 + 10 + 10
//   in the given order          a b | c d | e     90 + 80 + 10
//   in the given order by cost  a c | b d | e     80 is closer to 90 than 10 is
TEST(Waves, NodesOfSimilarCostFillAWave) {
  const Case made = case_of(R"(graph "g" {
    input x : u8[10]
    a = Conv(x) : u8[10]
    b = Conv(x) : u8[10]
    c = Conv(x) : u8[10]
    d = Conv(x) : u8[10]
    e = Conv(a, b, c, d) : u8[10]
    output e
  })",
                            {90, 10, 80, 10, 10});
  const auto grouped = [&](StreamPriority priority, WaveFill fill) {
    return text_of(made, group(made, {.priority = priority, .fill = fill, .cap = kNoCap}));
  };
  EXPECT_EQ(grouped(StreamPriority::longest_path, WaveFill::by_priority), "ac|bd|e");
  EXPECT_EQ(grouped(StreamPriority::given_order, WaveFill::by_priority), "ab|cd|e");
  EXPECT_EQ(grouped(StreamPriority::given_order, WaveFill::by_cost), "ac|bd|e");
  EXPECT_EQ(group(made, {.cap = kNoCap}).run.picoseconds, 90 + 10 + 10);
}

// v is an alias of a. Nothing runs, so it is a wave of its own that takes no time.
TEST(Waves, AnAliasIsAWaveThatTakesNoTime) {
  const Case made = case_of(R"(graph "g" {
    input x : u8[10]
    a = Conv(x) : u8[10]
    b = Conv(x) : u8[10]
    v = Reshape(a) : u8[2,5]
    c = Conv(v) : u8[10]
    d = Conv(b) : u8[10]
    e = Conv(c, d) : u8[10]
    output e
  })");
  ASSERT_EQ(made.sequential.aliases.step_kinds[NodeId(2)], StepKind::alias);
  const WaveSchedule waves = group(made, {.cap = kNoCap});
  EXPECT_EQ(text_of(made, waves), "ab|v|cd|e");
  EXPECT_EQ(waves.computing, 3U);
  EXPECT_EQ(waves.run.picoseconds, 30);
}

// No node depends on one of its own wave, no wave has more than `most` nodes, and the load is that of whole waves.
void check_waves(const Case& made, const WaveSchedule& waves, std::uint32_t most) {
  const IdVector<NodeId, std::vector<NodeId>> before = predecessors(made.graph, made.sequential);
  IdVector<NodeId, std::uint32_t> wave_of(made.graph.nodes().size());
  std::vector<std::int64_t> longest(made.graph.nodes().size(), 0);
  std::vector<std::uint32_t> count(made.graph.nodes().size(), 0);
  for (std::size_t at = 0; at < waves.wave.size(); ++at) {
    const NodeId id = waves.run.order[at];
    wave_of[id] = waves.wave[at];
    ASSERT_LE(++count[waves.wave[at]], most);
    if (made.sequential.aliases.step_kinds[id] != StepKind::alias) {
      longest[waves.wave[at]] = std::max(longest[waves.wave[at]], made.costs[id]);
    }
  }
  for (NodeId id : waves.run.order) {
    for (NodeId other : before[id]) ASSERT_LT(wave_of[other], wave_of[id]);
  }
  std::int64_t time = 0;
  for (std::int64_t one : longest) time += one;
  ASSERT_EQ(waves.run.picoseconds, time);
  // The load of a wave: the parts that are live at any of its steps, and the scratch of all its nodes.
  std::int64_t highest = 0;
  for (std::size_t begin = 0, end = 0; begin < waves.wave.size(); begin = end) {
    while (end < waves.wave.size() && waves.wave[end] == waves.wave[begin]) ++end;
    const Lifespan span{StepId(static_cast<std::uint32_t>(begin)), StepId(static_cast<std::uint32_t>(end))};
    std::int64_t live = 0;
    for (std::size_t at = begin; at < end; ++at) {
      live += scratch_of(made.sequential.aliases, made.kernels, waves.run.order[at]).count();
    }
    for (AliasClassId id : all_ids<AliasClassId>(waves.run.lifespans.size())) {
      const AliasClass& alias = made.sequential.aliases.classes[id];
      std::size_t part = 0;
      for_each_part(alias, Bytes(1), [&](Bytes size, const Lifespan&) {
        const Lifespan& lives = waves.run.lifespans[id][part++];
        if (is_in_arena(alias, {}) && lives.begin < span.end && span.begin < lives.end) live += size.count();
      });
    }
    highest = std::max(highest, live);
  }
  ASSERT_EQ(waves.run.load, Bytes(highest));
}

TEST(Waves, KeepEveryCapAndOrderOnRandomGraphs) {
  int faster = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    Case made = case_of(testing::random_graph(random, 24));
    for (NodeId id : all_ids<NodeId>(made.kernels.size())) {
      made.kernels[id].scratch = Bytes(random.between(0, 40));
      made.costs[id] = random.between(1, 20);
    }
    made.sequential.load = largest(load_profile(made.sequential.aliases, made.kernels, made.sequential.order));
    std::int64_t work = 0;
    for (NodeId id : all_ids<NodeId>(made.graph.nodes().size())) {
      if (made.sequential.aliases.step_kinds[id] != StepKind::alias) work += made.costs[id];
    }
    for (const std::uint32_t most : {1U, 2U, 3U}) {
      const Bytes cap(made.sequential.load.count() * random.between(50, 200) / 100);
      const WaveOptions options{
          .most = most,
          .priority = random.chance(50) ? StreamPriority::longest_path : StreamPriority::given_order,
          .fill = random.chance(50) ? WaveFill::by_priority : WaveFill::by_cost,
          .cap = cap};
      const WaveSchedule waves = group(made, options);
      ASSERT_TRUE(testing::is_topological(made.graph, waves.run.order)) << seed;
      ASSERT_LE(waves.run.load, std::max(cap, made.sequential.load)) << seed;
      ASSERT_LE(waves.run.picoseconds, work) << seed;
      ASSERT_GE(waves.run.picoseconds * most, work) << seed;
      check_waves(made, waves, most);
      if (waves.run.picoseconds < work) ++faster;
    }
  }
  EXPECT_GT(faster, 200);
}

}  // namespace
}  // namespace lowtide::schedule_internal
