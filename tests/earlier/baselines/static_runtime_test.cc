// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "lowtide/earlier/baselines/baselines.h"
#include "tests/earlier/baselines/nets.h"

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

// The lifetimes of Static Runtime's own tests. y is freed after the node that writes z, which therefore is in another
// group. out is not managed.
TEST(StaticRuntimeGroups, ATensorIsFreedAfterItsLastReader) {
  const Net net = net_of("mul x,x -> y; mul y,y -> z; mul z,z -> out", {.outputs = {"out"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  EXPECT_EQ(outcome.shared_buffers, 2);
  EXPECT_NE(block_of(net, outcome, "y"), block_of(net, outcome, "z"));
}

// The view ya is read by the last but one node, so y is live until then. size returns a number in the original.
TEST(StaticRuntimeGroups, AViewExtendsItsBaseToItsOwnLastReader) {
  const Net net = net_of("mul x,x -> y; size y -> s; mul y,y -> z1; Flatten y -> ya; mul ya,ya -> z2; mul z1,z2 -> out",
                         {.outputs = {"out"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  EXPECT_NE(block_of(net, outcome, "y"), block_of(net, outcome, "z1"));
  EXPECT_NE(block_of(net, outcome, "y"), block_of(net, outcome, "z2"));
  EXPECT_NE(block_of(net, outcome, "z1"), block_of(net, outcome, "z2"));
  EXPECT_EQ(block_of(net, outcome, "y"), block_of(net, outcome, "ya"));
}

// b is live with c alone. c is live until its view was read, with d and e.
TEST(StaticRuntimeGroups, OverlappingLivesAreApart) {
  const Net net =
      net_of("mul a,a -> b; mul b,b -> c; size c -> s; Flatten c -> ca; mul a,a -> d; mul ca,ca -> e; mul e,e -> out",
             {.outputs = {"out"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  for (const char* other : {"b", "d", "e"}) EXPECT_NE(block_of(net, outcome, "c"), block_of(net, outcome, other));
  EXPECT_EQ(outcome.shared_buffers, 2);  // s, d and e in that of b, one after another
  EXPECT_EQ(block_of(net, outcome, "b"), block_of(net, outcome, "e"));
}

// The output is live to the end, so b does not take its memory.
TEST(StaticRuntimeGroups, OutputsAreLiveToTheEnd) {
  const Net net = net_of("mul a,a -> out; mul a,a -> b", {.outputs = {"out"}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
  EXPECT_EQ(block_of(net, outcome, "out"), -1);
  EXPECT_EQ(block_of(net, outcome, "b"), 0);
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

// Neither the input nor the output is managed, and neither is a view of them. b and c take 64 bytes each.
TEST(StaticRuntimeSideBySide, HasManagedTensorsOnly) {
  const Net net = net_of("Flatten x -> v; F v -> b; F b -> c; F c -> out",
                         {.outputs = {"out"}, .bytes = {{"b", 1}, {"c", 64}, {"out", 65}}});
  const BaselineOutcome outcome = outcome_of(net, "static_runtime_side_by_side");
  EXPECT_EQ(outcome.blocks.front().size, Bytes(128));
  EXPECT_EQ(outcome.bytes, Bytes(128 + 128));
  EXPECT_EQ(offset_of(net, outcome, "b"), 0);
  EXPECT_EQ(offset_of(net, outcome, "c"), 64);
  EXPECT_EQ(block_of(net, outcome, "v"), -1);
  EXPECT_EQ(block_of(net, outcome, "out"), -1);
}

}  // namespace
}  // namespace lowtide::testing
