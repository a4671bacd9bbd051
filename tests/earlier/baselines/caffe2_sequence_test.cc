// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/earlier/baselines/baselines.h"
#include "tests/earlier/baselines/nets.h"
#include "tests/testing/graphs.h"

// outcome_of throws if the verifier finds anything, so each of these tests checks validity as well.
namespace lowtide::testing {
namespace {

TEST(Caffe2Simple, ChainsOfAnyLengthNeedTwoBuffers) {
  const std::vector<std::pair<int, int>> expected = {{1, 0}, {2, 1}, {3, 2}, {4, 2}, {10, 2}};
  for (const auto& [nodes, buffers] : expected) {
    const Net net = net_of(chain(nodes), {.outputs = {"x" + std::to_string(nodes)}});
    const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
    EXPECT_EQ(outcome.shared_buffers, buffers) << nodes;
    if (nodes != 10) continue;
    EXPECT_EQ(outcome.blobs, 11);
    EXPECT_EQ(outcome.blobs_left, 4);  // x0, x10 and two buffers
    EXPECT_EQ(outcome.bytes, Bytes(3 * 64));
    EXPECT_EQ(outcome.naive, Bytes(10 * 64));
  }
}

TEST(Caffe2Simple, ResNet50InferenceNeedsThreeBuffers) {
  const Net net = net_of(resnet50(), {.outputs = {"softmax"}});
  EXPECT_EQ(net.graph.nodes().size(), 175U);
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_EQ(outcome.blobs, 447);
  EXPECT_EQ(outcome.shared_buffers, 3);
  EXPECT_EQ(outcome.blobs_left, 325);       // 447 - 125 renamed + 3
  EXPECT_EQ(outcome.bound, outcome.bytes);  // all have one size: three and the output are needed
}

TEST(Caffe2Simple, ALadderOfEightRungsNeedsThreeBuffers) {
  const BaselineOutcome outcome = outcome_of(net_of(ladder(8), {.outputs = {"out"}}), "caffe2_simple");
  EXPECT_EQ(outcome.blobs, 18);
  EXPECT_EQ(outcome.blobs_left, 5);
  EXPECT_EQ(outcome.shared_buffers, 3);
}

TEST(Caffe2Simple, FourBranchesOfFiveNeedFiveBuffers) {
  const BaselineOutcome outcome = outcome_of(net_of(wide(4, 5), {.outputs = {"out"}}), "caffe2_simple");
  EXPECT_EQ(outcome.blobs, 26);
  EXPECT_EQ(outcome.blobs_left, 7);
  EXPECT_EQ(outcome.shared_buffers, 5);
}

TEST(Caffe2Simple, ATreeWithTwoLossesNeedsThreeBuffers) {
  const BaselineOutcome outcome = outcome_of(net_of(tree(false), {.outputs = {"loss1", "loss2"}}), "caffe2_simple");
  EXPECT_EQ(outcome.blobs, 37);
  EXPECT_EQ(outcome.blobs_left, 25);
  EXPECT_EQ(outcome.shared_buffers, 3);
}

TEST(Caffe2Simple, ATreeInWhichTheSumIsWrittenOverNeedsThreeBuffers) {
  const Net net = net_of(tree(true), {.outputs = {"loss1", "loss2"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_EQ(outcome.blobs, 36);
  EXPECT_EQ(outcome.blobs_left, 25);
  EXPECT_EQ(outcome.shared_buffers, 3);
}

// Both FC write "fc", so the first result is dead. There is no free buffer when split_info is written, so it keeps
// its memory.
TEST(Caffe2Simple, AnInputReadTwiceByOneNodeIsReleasedOnce) {
  const std::string tail = "Concat s0,s1,s2,s3 -> concated,split_info; Relu concated -> merged";
  const std::string sums = "Sum fc,fc -> s0; Sum fc,fc -> s1; Sum fc,fc -> s2; Sum fc,fc -> s3;";
  const Net net = net_of("FC data,w,b -> fc; FC data2,w2,b2 -> fc;" + sums + tail, {.outputs = {"merged"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_EQ(outcome.blobs, 14);
  EXPECT_EQ(outcome.shared_buffers, 5);  // fc, s0 to s3; concated moves into fc
  EXPECT_EQ(outcome.blobs_left, 13);
  EXPECT_EQ(block_of(net, outcome, "concated"), block_of(net, outcome, "fc"));
  EXPECT_EQ(block_of(net, outcome, "split_info"), -1);

  const std::string twice = "Sum fc,fc2 -> s0; Sum fc,fc2 -> s1; Sum fc,fc2 -> s2; Sum fc,fc2 -> s3;";
  Net meant = net_of("FC data,w,b -> fc; FC data2,w2,b2 -> fc2;" + twice + tail, {.outputs = {"merged"}});
  const BaselineOutcome of_one_device = outcome_of(meant, "caffe2_simple");
  EXPECT_EQ(of_one_device.blobs, 15);
  EXPECT_EQ(of_one_device.blobs_left, 13);  // concated moves into fc2, split_info into fc
  EXPECT_EQ(block_of(meant, of_one_device, "split_info"), block_of(meant, of_one_device, "fc"));

  // The original puts information about a result, which is on the CPU, into the buffer of a tensor on a GPU.
  meant.options.devices = IdVector<TensorId, std::uint32_t>(meant.graph.tensors().size(), 1);
  meant.options.devices[last_of(meant, "split_info")] = 0;
  const BaselineOutcome of_two_devices = outcome_of(meant, "caffe2_simple");
  EXPECT_EQ(block_of(meant, of_two_devices, "split_info"), -1);
  EXPECT_EQ(block_of(meant, of_two_devices, "concated"), block_of(meant, of_two_devices, "fc2"));
  EXPECT_EQ(of_two_devices.blobs_left, 14);
}

TEST(Caffe2Simple, AnInPlaceNodeKeepsItsBuffer) {
  const Net net = net_of("F x -> y; Relu y -> y; G y -> z; H z -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_EQ(outcome.blobs, 4);
  EXPECT_EQ(outcome.blobs_left, 4);  // y and z are both live at G
  EXPECT_EQ(outcome.shared_buffers, 2);
}

// A result that is never read moves into a free buffer and never releases it. H puts `unread` into the buffer of a,
// and no later tensor gets it. At I, b is free and d takes it. At J, c is free and e takes it.
TEST(Caffe2Simple, AnUnreadResultTakesAFreeBufferForGood) {
  const Net net = net_of("F x -> a; G a -> b; H b -> unread,c; I c -> d; J d -> e; K e -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_EQ(block_of(net, outcome, "a"), 0);
  EXPECT_EQ(block_of(net, outcome, "unread"), 0);
  EXPECT_EQ(outcome.blocks[0].blobs, 2);  // a and unread only
  EXPECT_EQ(block_of(net, outcome, "b"), 1);
  EXPECT_EQ(block_of(net, outcome, "d"), 1);
  EXPECT_EQ(block_of(net, outcome, "c"), 2);
  EXPECT_EQ(block_of(net, outcome, "e"), 2);
}

// R releases two buffers in the order in which it reads them, and d takes the one that was released last. In the
// original, this order is that of a hash table.
TEST(Caffe2Simple, TheBufferReleasedLastIsTakenFirst) {
  for (const auto& [inputs, taken] : {std::pair("a,b", "b"), std::pair("b,a", "a")}) {
    const Net net =
        net_of(std::string("P x -> a; Q x -> b; R ") + inputs + " -> c; S c -> d; T d -> o", {.outputs = {"o"}});
    const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
    EXPECT_EQ(block_of(net, outcome, "d"), block_of(net, outcome, taken)) << inputs;
    EXPECT_EQ(block_of(net, outcome, taken), 1) << inputs;
    EXPECT_EQ(block_of(net, outcome, "c"), 2) << inputs;  // blocks are numbered by release
    EXPECT_THAT(block_names(outcome), ::testing::ElementsAre("__m0_shared", "__m1_shared", "__m2_shared")) << inputs;
  }
}

TEST(Caffe2Simple, TrainingNetsShareAndKeptTensorsStay) {
  Net net = net_of(training(3), {.outputs = {"loss"}});
  net.options.keep = all_of(net, {"fc1_w_grad"});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_LT(outcome.blobs_left, outcome.blobs);
  EXPECT_EQ(block_of(net, outcome, "fc1_w_grad"), -1);
  EXPECT_EQ(block_of(net, outcome, "loss"), -1);
}

// The original renames o unless the caller lists it as static. The caller then cannot find it.
TEST(Caffe2Simple, OutputsKeepTheirMemoryWithoutBeingListed) {
  const Net net = net_of("A x -> y; B y -> z; C z -> u; D u -> o", {.outputs = {"o"}});
  EXPECT_EQ(block_of(net, outcome_of(net, "caffe2_simple"), "o"), -1);
}

// The original also renames s where A reads it, so A reads what nothing wrote. Here s is an input.
TEST(Caffe2Simple, WhatIsReadBeforeItIsWrittenIsAnInput) {
  const Net net = net_of("A s -> y; B y -> s; C s -> z; D z -> o", {.outputs = {"o"}});
  EXPECT_EQ(block_of(net, outcome_of(net, "caffe2_simple"), "s"), -1);
  EXPECT_LE(own_arena(net), 2 * 64);
}

// The original gives the buffer of y to u at its last read. D then writes y over u, and E reads the wrong bytes.
TEST(Caffe2Simple, AnUnreadSecondWriteKeepsTheBuffer) {
  const Net net = net_of("A x -> y; B y -> z; C z -> u; D q -> y; E u -> v; F v -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_NE(block_of(net, outcome, "u"), block_of(net, outcome, "y") == -1 ? -2 : block_of(net, outcome, "y"));
  EXPECT_LE(own_arena(net), outcome.bytes.count());
}

// The original gives b3 and b1 of the third node one buffer.
TEST(Caffe2Simple, TwoResultsOfANodeDoNotShare) {
  const Net net =
      net_of("P data -> b0,b1; Q data,b1,data -> b2; R b2 -> b3,b1; S b3,b2 -> b4", {.outputs = {"b0", "b4"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  const int b1 = block_of(net, outcome, "b1");
  EXPECT_TRUE(b1 == -1 || b1 != block_of(net, outcome, "b3"));
  EXPECT_LE(own_arena(net), outcome.bytes.count());
}

std::string two_devices() {
  return "FC data -> g1; FC g1 -> g2; FC g2 -> g3; FC g3 -> g4; CopyGPUToCPU g4 -> c0; FC c0 -> c1; FC c1 -> c2; "
         "FC c2 -> c3; CopyCPUToGPU c3 -> h0; FC h0 -> h1; FC h1 -> out";
}

Net net_on_two_devices() {
  Net net = net_of(two_devices(), {.outputs = {"out"}});
  net.options.devices = IdVector<TensorId, std::uint32_t>(net.graph.tensors().size(), 1);
  for (TensorId id : all_of(net, {"c0", "c1", "c2", "c3"})) net.options.devices[id] = 0;
  return net;
}

// The original uses two buffers across the devices. Each device needs two.
TEST(Caffe2Simple, DevicesDoNotMix) {
  const Net net = net_on_two_devices();
  for (const char* baseline : {"caffe2_simple", "caffe2_dag", "caffe2_dag_sized", "caffe2_interference_greedy",
                               "caffe2_interference_exact", "static_runtime_groups"}) {
    const BaselineOutcome outcome = outcome_of(net, baseline);
    EXPECT_EQ(outcome.shared_buffers, 4) << baseline;
    std::set<int> of_cpu;
    for (const char* name : {"c0", "c1", "c2", "c3"}) of_cpu.insert(block_of(net, outcome, name));
    EXPECT_EQ(of_cpu.size(), 2U) << baseline;
    for (const char* name : {"g1", "g2", "g3", "g4", "h0", "h1"}) {
      EXPECT_FALSE(of_cpu.contains(block_of(net, outcome, name))) << baseline << " " << name;
    }
  }
}

// The stack ignores sizes, so 1000 goes into the buffer of 10. Slots by size need 1020: {1000 1000} {10 10} {10}.
// Offsets need 1010, which is live at once.
TEST(Caffe2Simple, WithoutSizesAChainCostsTwiceItsPeak) {
  const Net net =
      net_of("F x -> a; F a -> b; F b -> c; F c -> d; F d -> e; F e -> o",
             {.outputs = {"o"}, .bytes = {{"a", 1000}, {"b", 10}, {"c", 10}, {"d", 1000}, {"e", 10}, {"o", 0}}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_EQ(outcome.bytes, Bytes(2000));
  EXPECT_EQ(outcome.best, Bytes(1020));
  EXPECT_EQ(outcome_of(net, "caffe2_interference_exact").bytes, Bytes(1020));
  EXPECT_EQ(own_arena(net), 1010);
}

TEST(Caffe2Simple, PlansAChainOfSixtyThousandNodes) {
  const Net net = net_of(chain(60'000), {.outputs = {"x60000"}});
  EXPECT_EQ(outcome_of(net, "caffe2_simple").shared_buffers, 2);
  const BaselineOutcome dag = outcome_of(net, "caffe2_dag");  // the recursion of the original overflows the stack
  EXPECT_EQ(dag.shared_buffers, 2);
  EXPECT_EQ(dag.bytes, Bytes(3 * 64));
}

// The second request gives the tensors of each block one name, so nothing is left to share.
TEST(Caffe2Simple, PlanningAResultAgainChangesNothing) {
  Net net = net_of(chain(10), {.outputs = {"x10"}});
  const BaselineOutcome first = outcome_of(net, "caffe2_simple");
  net.options.colocated.assign(first.blocks.size(), {});
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    if (first.sharing.places[id]) net.options.colocated[first.sharing.places[id]->block].push_back(id);
  }
  EXPECT_EQ(first.blobs_left, 4);
  const BaselineOutcome second = outcome_of(net, "caffe2_simple");
  EXPECT_EQ(second.blobs, 4);
  EXPECT_EQ(second.blobs_left, 4);
  EXPECT_EQ(second.bytes, first.bytes);
}

}  // namespace
}  // namespace lowtide::testing
