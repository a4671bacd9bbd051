// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "lowtide/baselines/baselines.h"
#include "tests/baselines/nets.h"

namespace lowtide::testing {
namespace {

TEST(StaticRuntimeGroups, ATensorMovesIntoTheGroupFreedLast) {
  const Net net =
      net_of("mul a,a -> b; mul b,b -> c; mul c,c -> d; mul b,d -> e; mul e,e -> out", {.outputs = {"out"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  EXPECT_EQ(outcome.shared_buffers, 3);  // {b} {c, e} {d}
  EXPECT_EQ(block_of(net, outcome, "c"), block_of(net, outcome, "e"));
  EXPECT_EQ(block_of(net, outcome, "out"), -1);
}

TEST(StaticRuntimeGroups, AViewKeepsItsBase) {
  const Net net =
      net_of("mul a,a -> b; mul b,b -> c; mul c,c -> d; mul b,d -> e; Flatten c -> cv; mul cv,cv -> f; mul e,f -> out",
             {.outputs = {"out"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  EXPECT_EQ(outcome.shared_buffers, 4);  // {b} {c and its view} {d, f} {e}
  EXPECT_EQ(block_of(net, outcome, "d"), block_of(net, outcome, "f"));
  EXPECT_EQ(block_of(net, outcome, "c"), block_of(net, outcome, "cv"));
}

TEST(StaticRuntimeGroups, UnreadResultsOfANodeDoNotShare) {
  const Net net = net_of("mul a,a -> z; mul z,z -> out; variadic a -> x,y", {.outputs = {"out"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  EXPECT_EQ(outcome.shared_buffers, 2);  // {z, x} {y}
  EXPECT_EQ(block_of(net, outcome, "z"), block_of(net, outcome, "x"));
  EXPECT_NE(block_of(net, outcome, "x"), block_of(net, outcome, "y"));
}

TEST(StaticRuntimeGroups, NineTensorsOfALongRowNeedThreeGroups) {
  const Net net = net_of(
      "mul a,b -> m1; relu m1 -> d; mul a,c -> m2; relu m2 -> e; mul e,d -> m3; relu m3 -> f; mul f,f -> m4; "
      "relu m4 -> g; mul g,c -> m5; relu m5 -> h",
      {.outputs = {"h"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  EXPECT_EQ(outcome.shared_buffers, 3);
  std::int64_t managed = 0;
  for (const BaselineBlock& block : outcome.blocks) managed += block.blobs;
  EXPECT_EQ(managed, 9);  // six of them reuse a group
}

TEST(StaticRuntimeGroups, SizesAreRoundedUpTo64) {
  for (const auto& [size, rounded] : {std::pair(0, 0), {1, 64}, {64, 64}, {65, 128}}) {
    const Net net = net_of("F a -> b; G b -> out", {.outputs = {"out"}, .bytes = {{"b", size}, {"out", 0}}});
    EXPECT_EQ(outcome_of(net, "static_runtime_groups").bytes, Bytes(rounded)) << size;
  }
}

// The output is a view of a managed tensor. The original gives its bytes to other tensors.
TEST(StaticRuntimeGroups, AnOutputThatIsAViewHoldsItsBase) {
  const Net net = net_of("add x,x -> a; Reshape a -> b; F a -> c; F c -> d; F d -> e", {.outputs = {"b", "e"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  EXPECT_EQ(block_of(net, outcome, "a"), -1);
  EXPECT_EQ(block_of(net, outcome, "b"), -1);
}

TEST(StaticRuntimeGroups, AViewOfAnInputIsNotManaged) {
  const Net net = net_of("Flatten x -> v; F v -> y; G y -> out", {.outputs = {"out"}});
  EXPECT_EQ(block_of(net, outcome_of(net, "static_runtime_groups"), "v"), -1);
}

// The stack ignores sizes: {1000, 10} and {10, 1000}, while only 1010 bytes are live at once.
TEST(StaticRuntimeGroups, AStackWithoutSizesCostsTwiceThePeak) {
  Net net = net_of("F x -> a; F a -> b; F b -> c; F c -> d; F d -> out",
                   {.outputs = {"out"}, .bytes = {{"a", 1000}, {"b", 10}, {"c", 10}, {"d", 1000}, {"out", 0}}});
  net.options.alignment = Bytes(1);
  EXPECT_EQ(outcome_of(net, "static_runtime_groups").bytes, Bytes(2000));
  EXPECT_EQ(own_arena(net), 1010);
}

}  // namespace
}  // namespace lowtide::testing
