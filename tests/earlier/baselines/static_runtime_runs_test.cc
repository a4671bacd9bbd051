// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/static_runtime_runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/earlier/baselines/baselines.h"
#include "tests/earlier/baselines/nets.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kEight = 8;  // a larger batch

using Sizes = std::map<std::string, std::int64_t>;

// The runs of a net with the sizes of each run. Names without a size have 64 bytes.
StaticRuntimeRuns runs_of(const std::string& text, const std::vector<std::string>& outputs,
                          const std::vector<Sizes>& sizes, bool manage_outputs = false) {
  std::vector<Net> nets;
  for (const Sizes& one : sizes) nets.push_back(net_of(text, {.outputs = outputs, .bytes = one}));
  std::vector<const Graph*> graphs;
  for (const Net& net : nets) graphs.push_back(&net.graph);
  Result<StaticRuntimeRuns> runs =
      static_runtime_runs(graphs, given_order(*graphs.front()), {.manage_outputs = manage_outputs});
  if (!runs) throw std::runtime_error(runs.error().describe());
  return *std::move(runs);
}

struct Figures {
  std::int64_t block;
  std::int64_t outside;
  std::int64_t grown;
  friend bool operator==(const Figures&, const Figures&) = default;
};
std::ostream& operator<<(std::ostream& out, const Figures& figures) {
  return out << "block " << figures.block << ", outside " << figures.outside << ", grown " << figures.grown;
}

std::vector<Figures> figures_of(const std::vector<StaticRuntimeRun>& runs) {
  std::vector<Figures> all;
  for (const StaticRuntimeRun& run : runs) {
    EXPECT_EQ(run.held, run.block + run.outputs_block + run.outside);
    all.push_back({run.block.count(), run.outside.count(), run.grown});
  }
  return all;
}

// 0, 1, 64 and 65 bytes take 0, 64, 64 and 128 bytes of the block. The first run allocates what it needs.
TEST(StaticRuntimeRuns, TheBlockHasSizesRoundedUpTo64) {
  for (const auto& [size, part] : std::vector<std::pair<int, int>>{{0, 0}, {1, 64}, {64, 64}, {65, 128}}) {
    const StaticRuntimeRuns runs = runs_of("F x -> a; F a -> y", {"y"}, std::vector<Sizes>(3, {{"a", size}, {"y", 0}}));
    const std::vector<Figures> expected = {{0, size, 0}, {part, 0, 0}, {part, 0, 0}};
    EXPECT_EQ(figures_of(runs.side_by_side), expected);
    EXPECT_EQ(figures_of(runs.groups), expected);
  }
}

// Shape A, a larger shape B, and A again. a has 60, 100 and 60 bytes, y has 10 bytes and is never managed.
TEST(StaticRuntimeRuns, ATensorThatGrowsIsAllocatedInThatRun) {
  const StaticRuntimeRuns runs =
      runs_of("F x -> a; F a -> y", {"y"}, {{{"a", 60}, {"y", 10}}, {{"a", 100}, {"y", 10}}, {{"a", 60}, {"y", 10}}});
  const std::vector<Figures> expected = {{0, 60 + 10, 0}, {64, 100 + 10, 1}, {128, 10, 0}};
  EXPECT_EQ(figures_of(runs.side_by_side), expected);
  EXPECT_EQ(runs.side_by_side[1].held, Bytes(64 + 110));
  EXPECT_EQ(runs.managed, 1);
}

// 64 bytes fit into what 60 bytes learned.
TEST(StaticRuntimeRuns, GrowthWithinTheRoundingNeedsNothing) {
  const StaticRuntimeRuns runs = runs_of("F x -> a; F a -> y", {"y"}, {{{"a", 60}, {"y", 0}}, {{"a", 64}, {"y", 0}}});
  EXPECT_EQ(figures_of(runs.groups), (std::vector<Figures>{{0, 60, 0}, {64, 0, 0}}));
}

// Tensors without bytes in the first run have no part in the second.
TEST(StaticRuntimeRuns, SizesNeverShrink) {
  const std::vector<Sizes> sizes = {
      {{"a", 0}, {"y", 0}}, {{"a", 300}, {"y", 0}}, {{"a", 0}, {"y", 0}}, {{"a", 10}, {"y", 0}}};
  const std::vector<Figures> expected = {{0, 0, 0}, {0, 300, 1}, {320, 0, 0}, {320, 0, 0}};
  EXPECT_EQ(figures_of(runs_of("F x -> a; F a -> y", {"y"}, sizes).side_by_side), expected);
}

// b and d are each a group, c and e share one, which learns the larger of the two. In batch 8 all are 8 times as large.
TEST(StaticRuntimeRuns, AGroupLearnsTheLargestOfItsTensors) {
  const std::string text = "mul a,a -> b; mul b,b -> c; mul c,c -> d; mul b,d -> e; mul e,e -> out";
  const auto sizes = [](std::int64_t batch) {
    return Sizes{{"b", 64 * batch}, {"c", 64 * batch}, {"d", 64 * batch}, {"e", 128 * batch}, {"out", 4 * batch}};
  };
  const StaticRuntimeRuns runs = runs_of(text, {"out"}, {sizes(1), sizes(8), sizes(1), sizes(8)});
  EXPECT_EQ(runs.managed, 4);
  EXPECT_EQ(runs.group_count, 3);
  // one after another: 64 + 64 + 64 + 128 = 320 for batch 1
  EXPECT_EQ(
      figures_of(runs.side_by_side),
      (std::vector<Figures>{{0, 324, 0}, {320, kEight * 320 + 32, 4}, {kEight * 320, 4, 0}, {kEight * 320, 32, 0}}));
  // {b} 64, {c, e} 128, {d} 64. For batch 8, c has 512 bytes and does not fit into 128.
  EXPECT_EQ(
      figures_of(runs.groups),
      (std::vector<Figures>{{0, 324, 0}, {256, kEight * 320 + 32, 4}, {kEight * 256, 4, 0}, {kEight * 256, 32, 0}}));
}

// c has 100 bytes in the second run. It fits into the part of its group, which e made 128 bytes large.
TEST(StaticRuntimeRuns, ATensorMayGrowIntoThePartOfItsGroup) {
  const std::string text = "mul a,a -> b; mul b,b -> c; mul c,c -> d; mul b,d -> e; mul e,e -> out";
  const StaticRuntimeRuns runs =
      runs_of(text, {"out"}, {{{"c", 64}, {"e", 128}, {"out", 0}}, {{"c", 100}, {"e", 128}, {"out", 0}}});
  EXPECT_EQ(figures_of(runs.groups), (std::vector<Figures>{{0, 320, 0}, {256, 0, 0}}));
  EXPECT_EQ(figures_of(runs.side_by_side), (std::vector<Figures>{{0, 320, 0}, {320, 100, 1}}));
}

// Batch 1, 8 and 32, twice each. From the fourth run on, nothing grows.
TEST(StaticRuntimeRuns, TheLargestBatchIsLearned) {
  std::vector<Sizes> sizes;
  for (std::int64_t batch : {1, 8, 32, 1, 8, 32}) sizes.push_back({{"a", 128 * batch}, {"y", 0}});
  const StaticRuntimeRuns runs = runs_of("F x -> a; F a -> y", {"y"}, sizes);
  EXPECT_EQ(
      figures_of(runs.side_by_side),
      (std::vector<Figures>{{0, 128, 0}, {128, 1024, 1}, {1024, 4096, 1}, {4096, 0, 0}, {4096, 0, 0}, {4096, 0, 0}}));
}

// The relu of a model with managed outputs, batches 8, 8, 24 and 8: the output is managed from the second run on, and
// never the input.
TEST(StaticRuntimeRuns, OutputsMayHaveABlockOfTheirOwn) {
  std::vector<Sizes> sizes;
  for (std::int64_t batch : {8, 8, 24, 8}) sizes.push_back({{"x", 4 * batch}, {"a", 16 * batch}, {"y", 4 * batch}});
  const StaticRuntimeRuns runs = runs_of("F x -> a; F a -> y", {"y"}, sizes, true);
  EXPECT_EQ(runs.managed_outputs, 1);
  std::vector<std::int64_t> blocks;
  for (const StaticRuntimeRun& run : runs.groups) blocks.push_back(run.outputs_block.count());
  EXPECT_EQ(blocks, (std::vector<std::int64_t>{0, 64, 64, 128}));  // 32 bytes, 32, 96, 32
  EXPECT_EQ(figures_of(runs.groups),
            (std::vector<Figures>{{0, 128 + 32, 0}, {128, 0, 0}, {128, 384 + 96, 2}, {384, 0, 0}}));
  EXPECT_EQ(runs.groups[2].held, Bytes(128 + 64 + 384 + 96));
  const StaticRuntimeRuns without = runs_of("F x -> a; F a -> y", {"y"}, sizes);
  EXPECT_EQ(without.managed_outputs, 0);
  EXPECT_EQ(figures_of(without.groups),
            (std::vector<Figures>{{0, 128 + 32, 0}, {128, 32, 0}, {128, 384 + 96, 1}, {384, 32, 0}}));
}

// v is a view of a and has no bytes. o is an output and a view of b, so neither is managed, even with managed outputs.
TEST(StaticRuntimeRuns, ViewsCountWithTheirBase) {
  const std::vector<Sizes> sizes(2, {{"a", 100}, {"v", 100}, {"b", 50}, {"o", 50}});
  for (bool manages : {false, true}) {
    const StaticRuntimeRuns runs = runs_of("F x -> a; Flatten a -> v; F v -> b; Flatten b -> o", {"o"}, sizes, manages);
    EXPECT_EQ(runs.managed, 1);
    EXPECT_EQ(runs.managed_outputs, 0);
    EXPECT_EQ(figures_of(runs.groups), (std::vector<Figures>{{0, 150, 0}, {128, 50, 0}}));
  }
}

// DeepAndWide, as Static Runtime's tests have it: ad and user [B,1,32], wide [B,50]. The output is a tuple of a tensor
// [B,1]. user^T is a view of an input; the flattened dp is one of dp.
TEST(StaticRuntimeRuns, OfDeepAndWide) {
  const std::string text =
      "Add wide,mu -> w1; Mul w1,sigma -> w2; Clip w2 -> w3; Flatten user -> ut; Bmm ad,ut -> dp; Flatten dp -> flat; "
      "Cat flat,w3 -> cat; Addmm b,cat,w -> fc; Sigmoid fc -> y";
  std::vector<Sizes> sizes;
  for (std::int64_t batch : {1, 8, 1}) {
    Sizes one{{"y", 4 * batch}, {"fc", 4 * batch}, {"dp", 4 * batch}, {"flat", 4 * batch}, {"cat", 204 * batch}};
    for (const char* name : {"wide", "w1", "w2", "w3"}) one[name] = 200 * batch;
    for (const char* name : {"user", "ut", "ad"}) one[name] = 128 * batch;
    sizes.push_back(one);
  }
  const StaticRuntimeRuns runs = runs_of(text, {"y"}, sizes, true);
  EXPECT_EQ(runs.managed, 6);  // w1, w2, w3, dp, cat, fc
  // 3 x 200 + 4 + 204 + 4 = 812 bytes, and y. Rounded up: 4 x 256 + 2 x 64 = 1152; for batch 8: 3 x 1600, 64, 1664, 64
  EXPECT_EQ(figures_of(runs.side_by_side),
            (std::vector<Figures>{{0, 816, 0}, {1152, kEight * (600 + 204), 4}, {4800 + 64 + 1664 + 64, 0, 0}}));
  EXPECT_EQ(runs.side_by_side[1].outputs_block, Bytes(64));  // 32 bytes fit
  // groups: w1; w2; w3 in that of w1; dp in that of w2; cat in a third; fc in one of those that cat freed
  EXPECT_EQ(runs.group_count, 3);
}

// The first block of the groups is what the baseline says for the same sizes, without the outputs.
TEST(StaticRuntimeRuns, TheSecondRunIsTheBaseline) {
  for (const char* text : {"F x -> a; F a -> b; F b -> c; F c -> y", "F x -> a,b; G a -> c; H b,c -> d; F d -> y"}) {
    const Net net = net_of(text, {.outputs = {"y"}, .bytes = {{"a", 500}, {"c", 70}, {"y", 64}}});
    const StaticRuntimeRuns runs = *static_runtime_runs({&net.graph, &net.graph}, given_order(net.graph));
    EXPECT_EQ(runs.groups[1].held, outcome_of(net, "static_runtime_groups").bytes);
    EXPECT_EQ(runs.side_by_side[1].held, outcome_of(net, "static_runtime_side_by_side").bytes);
  }
}

TEST(StaticRuntimeRuns, OtherModelsAreRefused) {
  const auto refusal = [](const std::string& text, const NetFacts& facts, const StaticRuntimeOptions& options = {}) {
    const Net first = net_of("F x -> a; G a -> y", {.outputs = {"y"}});
    const Net other = net_of(text, facts);
    const Result<StaticRuntimeRuns> runs =
        static_runtime_runs({&first.graph, &other.graph}, given_order(first.graph), options);
    return runs ? "accepted" : runs.error().describe();
  };
  EXPECT_EQ(refusal("F x -> a; G a -> y", {.outputs = {"y"}, .bytes = {{"a", 9}}}), "accepted");
  EXPECT_EQ(refusal("F x -> y", {.outputs = {"y"}}), "run 2: the graph has 1 nodes, that of run 1 has 2");
  EXPECT_EQ(refusal("F x -> a; G a -> y,z", {.outputs = {"y"}}), "run 2: the graph has 4 tensors, that of run 1 has 3");
  EXPECT_EQ(refusal("F x -> a; H a -> y", {.outputs = {"y"}}), "run 2: node 1 is not that of run 1");
  EXPECT_EQ(refusal("F x -> a; G a -> y", {.outputs = {"y", "a"}}), "run 2: tensor 'a' has another role than in run 1");
  EXPECT_EQ(refusal("F x -> a; G a -> y", {.outputs = {"y"}, .bytes = {{"a", std::int64_t{1} << 46}}},
                    {.alignment = Bytes(3)}),
            "the alignment is 3; it must be a power of two of at most 1073741824");
  EXPECT_FALSE(static_runtime_runs({}, {}));
}

}  // namespace
}  // namespace lowtide::testing
