// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/baselines/rules/first_fit.h"
#include "tests/earlier/baselines/nets.h"
#include "tests/earlier/baselines/spans.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;

std::vector<PackingId> listed(std::size_t count) {
  std::vector<PackingId> order;
  for (PackingId id : all_ids<PackingId>(count)) order.push_back(id);
  return order;
}

std::vector<std::int64_t> positions(const IdVector<PackingId, Offset>& offsets) {
  std::vector<std::int64_t> all;
  for (Offset offset : offsets) all.push_back(offset.position());
  return all;
}

// 40, 39, 20 and 19 are stacked. 18 is live only with 39 and 19. There are 40 free bytes below 39 and 20 between the
// two. The lowest range is taken, although 20 is nearer.
TEST(LowestFreeOffsets, ABufferTakesTheLowestGapThatFits) {
  const PackingProblem problem = problem_of({{0, 1, 40}, {0, 9, 39}, {0, 1, 20}, {0, 9, 19}, {2, 9, 18}});
  EXPECT_THAT(positions(*baselines_internal::lowest_free_offsets(problem, listed(5))), ElementsAre(0, 40, 79, 99, 0));
}

// 100 opens bucket 0, and 60, which is live with it, bucket 1. 50 is live with 60 alone: bottom of bucket 0. 30 is live
// with 50 and 60: above 50 in bucket 0, as 50 + 30 <= 100. 25 is live with 50, 60 and 30: bucket 0 has 20 bytes above
// 80, and bucket 1 none above 60. It opens bucket 2.
TEST(Buckets, ABufferGoesAboveThoseThatAreLive) {
  const PackingProblem problem = problem_of({{0, 1, 100}, {0, 9, 60}, {2, 9, 50}, {3, 9, 30}, {4, 9, 25}});
  const Result<baselines_internal::BucketChoice> choice = baselines_internal::bucket_offsets(problem, listed(5));
  EXPECT_THAT(choice->bucket, ElementsAre(0, 1, 0, 0, 2));
  EXPECT_THAT(positions(choice->offset), ElementsAre(0, 0, 0, 50, 0));
  EXPECT_THAT(choice->sizes, ElementsAre(Bytes(100), Bytes(60), Bytes(25)));
}

// 40 goes above 50, at 50. Although 30 is live with 40 alone, it is not placed in the 50 free bytes below 40: it goes
// above 40, and 90 + 30 > 100. So it opens a bucket.
TEST(Buckets, GapsBelowABufferStayFree) {
  const PackingProblem problem = problem_of({{0, 1, 100}, {2, 3, 50}, {3, 9, 40}, {5, 9, 30}});
  const Result<baselines_internal::BucketChoice> choice = baselines_internal::bucket_offsets(problem, listed(4));
  EXPECT_THAT(choice->bucket, ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(positions(choice->offset), ElementsAre(0, 0, 50, 0));
}

// x0 to x4 have 128, 64, 256, 64 and 128 bytes. x2 and a neighbour need 320. TFLite Micro places x2 at 0, then x4 and
// x0 at 0, because neither is live with x2, and x1 and x3 at 256.
TEST(TfliteMicroGreedy, ChainsNeedTwoNeighbours) {
  const Net net = net_of(chain(4), {.outputs = {"x4"}, .bytes = {{"x0", 128}, {"x2", 256}, {"x4", 128}}});
  const BaselineOutcome outcome = outcome_of(net, "tflite_micro_greedy");
  EXPECT_EQ(outcome.bytes, Bytes(320));
  EXPECT_EQ(offset_of(net, outcome, "x2"), 0);
  EXPECT_EQ(offset_of(net, outcome, "x4"), 0);
  EXPECT_EQ(offset_of(net, outcome, "x0"), 0);
  EXPECT_EQ(offset_of(net, outcome, "x1"), 256);
  EXPECT_EQ(offset_of(net, outcome, "x3"), 256);
}

// If sizes are equal, the last tensor of the graph comes first: o at 0, and b, which is live with it, at 64. a is live
// with b and x, and goes below b. x goes above a.
TEST(TfliteMicroGreedy, OfEqualSizesTheLastTensorComesFirst) {
  const Net net = net_of("F x -> a; F a -> b; F b -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "tflite_micro_greedy");
  EXPECT_EQ(offset_of(net, outcome, "o"), 0);
  EXPECT_EQ(offset_of(net, outcome, "b"), 64);
  EXPECT_EQ(offset_of(net, outcome, "a"), 0);
  EXPECT_EQ(offset_of(net, outcome, "x"), 64);
  EXPECT_EQ(outcome.bytes, Bytes(128));
}

// Reshape copies: x, its copy and the result are three tensors, two of which are live at a time. An operator never
// writes over its input.
TEST(TfliteMicroGreedy, ViewsAreCopies) {
  const Net net = net_of("Flatten x -> v; Relu v -> o", {.outputs = {"o"}});
  EXPECT_EQ(outcome_of(net, "tflite_micro_greedy").naive, Bytes(192));
  EXPECT_EQ(outcome_of(net, "tflite_micro_greedy").bytes, Bytes(128));
}

// 100 bytes of scratch are rounded up to 112. They are the largest buffer, so they are at 0, and x and a are above:
// 112 + 64 + 64 = 240. The second node needs only 64 + 64.
TEST(TfliteMicroGreedy, ScratchIsInTheArenaWhileItsNodeRuns) {
  Net net = net_of("F x -> a; F a -> o", {.outputs = {"o"}});
  net.options.workspaces.shared = {Bytes(100), Bytes(0)};
  const BaselineOutcome outcome = outcome_of(net, "tflite_micro_greedy");
  EXPECT_EQ(outcome.bytes, Bytes(240));
  EXPECT_EQ(outcome.naive, Bytes(3 * 64 + 112));
  EXPECT_EQ(outcome.sharing.scratch[NodeId(0)].size, Bytes(112));
  EXPECT_EQ(outcome.sharing.scratch[NodeId(0)].place.offset, Offset(0));  // the largest comes first
  EXPECT_TRUE(outcome.proven_optimal);
}

// An input that nothing reads is live only before the first node, together with the other inputs.
TEST(TfliteMicroGreedy, AnUnreadInputIsLiveBeforeTheRun) {
  const Net net{graph_of(R"(graph "g" {
    input unread : u8[128]
    input x : u8[64]
    a = Relu(x) : u8[64]
    y = Relu(a) : u8[64]
    output y
  })"),
                {}};
  for (const char* baseline : {"tflite_micro_greedy", "executorch_greedy"}) {
    EXPECT_EQ(outcome_of(net, baseline).bytes, Bytes(192)) << baseline;  // unread and x
  }
}

// The same chain as above: x2 opens an object of 256 bytes. x4 and x0 are not live with it, and go to its bottom. x3 is
// live with x4 in the object and with x2: both end at 256 or below it, and 256 + 64 > 256. It opens an object of 64.
TEST(ExecutorchGreedy, ChainsNeedTwoObjects) {
  const Net net = net_of(chain(4), {.outputs = {"x4"}, .bytes = {{"x0", 128}, {"x2", 256}, {"x4", 128}}});
  const BaselineOutcome outcome = outcome_of(net, "executorch_greedy");
  EXPECT_EQ(outcome.bytes, Bytes(320));
  EXPECT_THAT(block_names(outcome), ElementsAre("object 0", "object 1"));
  EXPECT_EQ(block_of(net, outcome, "x0"), 0);
  EXPECT_EQ(block_of(net, outcome, "x1"), 1);
  EXPECT_EQ(block_of(net, outcome, "x2"), 0);
  EXPECT_EQ(block_of(net, outcome, "x3"), 1);
  EXPECT_EQ(block_of(net, outcome, "x4"), 0);
  EXPECT_EQ(outcome_of(net, "executorch_naive").bytes, Bytes(640));
}

// Flatten is a view of x. Unsqueeze copies, and so does a Flatten whose result is an output.
TEST(ExecutorchGreedy, AReshapedTensorIsAView) {
  EXPECT_EQ(outcome_of(net_of("Flatten x -> v; Relu v -> o", {.outputs = {"o"}}), "executorch_naive").bytes,
            Bytes(128));
  EXPECT_EQ(outcome_of(net_of("Unsqueeze x -> v; Relu v -> o", {.outputs = {"o"}}), "executorch_naive").bytes,
            Bytes(192));
  EXPECT_EQ(outcome_of(net_of("Relu x -> v; Flatten v -> o", {.outputs = {"o"}}), "executorch_naive").bytes,
            Bytes(192));
}

// The alignment of both is 16: 1 + 17 bytes become 16 + 32.
TEST(CurrentRuntimes, AlignTo16Bytes) {
  const Net net = net_of("F x -> o", {.outputs = {"o"}, .bytes = {{"x", 1}, {"o", 17}}});
  for (const char* baseline : {"tflite_micro_greedy", "executorch_greedy", "executorch_naive"}) {
    EXPECT_EQ(outcome_of(net, baseline).bytes, Bytes(48)) << baseline;
  }
}

// They come first in the list, so that reports show them first.
TEST(CurrentRuntimes, ComeBeforeDiscontinuedOnes) {
  const auto is_discontinued = [](const BaselineSpec& spec) { return spec.is_discontinued; };
  EXPECT_TRUE(std::is_partitioned(baselines().begin(), baselines().end(),
                                  [&](const BaselineSpec& spec) { return !is_discontinued(spec); }));
  EXPECT_EQ(std::count_if(baselines().begin(), baselines().end(), is_discontinued), 10);
  EXPECT_EQ(baselines().front().name, "tflite_micro_greedy");
}

TEST(CurrentRuntimes, TwoDevicesAreRefused) {
  Net net = net_of("F x -> a; Copy a -> b; G b -> o", {.outputs = {"o"}});
  net.options.devices = IdVector<TensorId, std::uint32_t>(net.graph.tensors().size(), 1);
  net.options.devices[last_of(net, "a")] = 0;
  for (const char* baseline : {"tflite_micro_greedy", "executorch_greedy", "executorch_naive"}) {
    net.options.baseline = baseline;
    const Result<BaselineOutcome> outcome = apply_baseline(net.graph, given_order(net.graph), net.options);
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, ::testing::EndsWith("plans one device, but the tensors are on 2; plan each "
                                                             "device separately"));
  }
}

}  // namespace
}  // namespace lowtide::testing
