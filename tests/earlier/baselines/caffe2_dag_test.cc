// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "tests/earlier/baselines/nets.h"
#include "tests/testing/graphs.h"

// outcome_of throws if the verifier finds anything, so each of these tests checks validity in every run that the
// dependencies permit.
namespace lowtide::testing {
namespace {

// Returns why the baseline refuses the order; empty if it does not.
std::string refusal_of(const Net& net, const std::vector<std::uint32_t>& order) {
  std::vector<NodeId> nodes;
  for (std::uint32_t at : order) nodes.emplace_back(at);
  BaselineOptions options = net.options;
  options.baseline = "caffe2_dag";
  const Result<BaselineOutcome> outcome = apply_baseline(net.graph, nodes, options);
  return outcome ? "" : outcome.error().message;
}

TEST(Caffe2Dag, ResNet50InferenceNeedsFiveBuffers) {
  const BaselineOutcome outcome = outcome_of(net_of(resnet50(), {.outputs = {"softmax"}}), "caffe2_dag");
  EXPECT_EQ(outcome.shared_buffers, 5);
  EXPECT_EQ(outcome.blobs, 447);
  EXPECT_EQ(outcome.blobs_left, 327);
}

TEST(Caffe2Dag, ATreeWithTwoLossesNeedsFourBuffers) {
  const Net net = net_of(tree(false), {.outputs = {"loss1", "loss2"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_dag");
  EXPECT_EQ(outcome.blobs, 37);
  EXPECT_EQ(outcome.blobs_left, 28);
  EXPECT_EQ(outcome.shared_buffers, 4);
}

using Rows = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The blocks by name, and the tensors in each.
Rows rows_of(const Net& net, const BaselineOutcome& outcome) {
  Rows rows;
  for (const BaselineBlock& block : outcome.blocks) rows.push_back({block.name, {}});
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    if (place) rows[place->block].second.push_back(net.graph.tensor(id).name);
  }
  return rows;
}

// fc1 to fc5 come first: fc3 moves into fc1, and so does fc5, while fc4 is left for fc6 and xent2. fc3b finds no
// free buffer, because fc1 is fc5 by now. fc4b finds none, because fc2 may still be read; fc5b takes fc3b. fc5sum
// takes fc2, which is not needed any more. relu1 takes fc5b, because fc6 reads fc5. The rest follows the same way.
// Buffers are numbered by their first tensors.
TEST(Caffe2Dag, TheBuffersOfATreeHaveTheseNamesAndTensors) {
  const Net net = net_of(tree(false), {.outputs = {"loss1", "loss2"}});
  const Rows expected = {{"__m0_shared", {"fc1", "fc3", "fc5"}},
                         {"__m1_shared", {"fc2", "fc5sum", "pred1"}},
                         {"__m2_shared", {"fc4", "fc6", "fc6@1", "xent2"}},
                         {"__m3_shared", {"fc3b", "fc5b", "relu1", "xent1"}}};
  EXPECT_EQ(rows_of(net, outcome_of(net, "caffe2_dag")), expected);
}

// p and q are one branch; u, v and w are the other, where w moves into u. At j, the buffers of p, s and v are free
// with one tensor each, and p came first. At k, s and v are still free, and so is the buffer that u and w share.
TEST(Caffe2Dag, TheBufferThatMostTensorsShareIsTakenFirst) {
  const Net net = net_of("S x -> s; A s -> p; A p -> q; B s -> u; B u -> v; B v -> w; J q,w -> j; K j -> k; L k -> o",
                         {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_dag");
  const Rows expected = {{"__m0_shared", {"p", "j"}}, {"__m1_shared", {"u", "w", "k"}}};
  EXPECT_EQ(rows_of(net, outcome), expected);
}

// The second writer of fc5sum does not have the tokens of the Sum, so one blob less moves than in a tree with relu1.
TEST(Caffe2Dag, ATreeInWhichTheSumIsWrittenOverNeedsFourBuffers) {
  const Net net = net_of(tree(true), {.outputs = {"loss1", "loss2"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_dag");
  EXPECT_EQ(outcome.original_failure, std::nullopt);
  EXPECT_EQ(outcome.blobs, 36);
  EXPECT_EQ(outcome.blobs_left, 29);
  EXPECT_EQ(outcome.shared_buffers, 4);
}

TEST(Caffe2Dag, ABufferKeepsItsNameUntilItIsUsedAgain) {
  const std::vector<std::pair<int, int>> expected = {{2, 1}, {3, 2}, {4, 2}, {10, 2}};
  for (const auto& [nodes, buffers] : expected) {
    const Net net = net_of(chain(nodes), {.outputs = {"x" + std::to_string(nodes)}});
    const BaselineOutcome outcome = outcome_of(net, "caffe2_dag");
    EXPECT_EQ(*outcome.blobs_left - 2, buffers) << nodes;  // without x0 and the output
    if (nodes != 4) continue;
    EXPECT_EQ(outcome.shared_buffers, 1);  // x1 and x3; x2 keeps its name
  }
}

TEST(Caffe2Dag, ALadderOfEightRungsNeedsThreeBuffers) {
  const BaselineOutcome outcome = outcome_of(net_of(ladder(8), {.outputs = {"out"}}), "caffe2_dag");
  EXPECT_EQ(outcome.blobs, 18);
  EXPECT_EQ(outcome.blobs_left, 5);
  EXPECT_EQ(outcome.shared_buffers, 3);
}

TEST(Caffe2Dag, BranchesThatMayRunAtOnceDoNotShare) {
  const BaselineOutcome outcome = outcome_of(net_of(wide(4, 5), {.outputs = {"out"}}), "caffe2_dag");
  EXPECT_EQ(outcome.blobs, 26);
  EXPECT_EQ(outcome.blobs_left, 11);
  EXPECT_EQ(outcome.shared_buffers, 8);  // two per branch; what follows the Sum moves into them
  EXPECT_EQ(outcome.best, outcome.bytes);
}

std::vector<std::string> gradient_names(int layers) {
  std::vector<std::string> names = {"loss_grad", "xent_grad", "pred_grad", "data_grad"};
  for (int at = 1; at <= layers; ++at) names.push_back("fc" + std::to_string(at) + "_grad");
  return names;
}

std::string training_on_two_devices() {
  std::string text = training(7);
  const auto replace = [&](const std::string& before, const std::string& after) {
    text.replace(text.find(before), before.size(), after);
  };
  replace("FC fc4,fc5_w", "CopyGPUToCPU fc4 -> copy; FC copy,fc5_w");
  replace("FCGradient fc4,fc5_w,fc5_grad -> fc5_w_grad,fc5_b_grad,fc4_grad",
          "FCGradient copy,fc5_w,fc5_grad -> fc5_w_grad,fc5_b_grad,copy_grad; CopyCPUToGPU copy_grad -> fc4_grad");
  return text;
}

TEST(Caffe2Gradients, FiveLayersShareTwoBuffers) {
  Net net = net_of(training(5), {.outputs = {"loss"}});
  net.options.gradients = all_of(net, gradient_names(5));
  const BaselineOutcome outcome = outcome_of(net, "caffe2_gradients");
  EXPECT_EQ(net.graph.nodes().size(), 19U);
  EXPECT_EQ(outcome.blobs, 39);
  EXPECT_EQ(outcome.blobs_left, 32);  // nine gradients in two buffers
  EXPECT_EQ(outcome.shared_buffers, 2);
  EXPECT_EQ(block_of(net, outcome, "fc1_w_grad"), -1);

  net.options.hosts = all_of(net, {"fc1", "fc2", "fc3", "fc4", "pred", "xent"});
  const BaselineOutcome hosted = outcome_of(net, "caffe2_gradients");
  EXPECT_LE(hosted.blobs_left, 32);
  EXPECT_LE(hosted.bytes, outcome.bytes);
}

// fc4_grad is as large as fc5 and moves there. fc1_w_grad moves if it is listed as a gradient. Neither happens if
// they are to be kept.
TEST(Caffe2Gradients, KeptTensorsNeitherHostNorMove) {
  Net net = net_of(training(5), {.outputs = {"loss"}, .bytes = {{"fc5", 128}, {"fc4_grad", 128}}});
  net.options.gradients = all_of(net, gradient_names(5));
  net.options.gradients.push_back(last_of(net, "fc1_w_grad"));
  net.options.hosts = all_of(net, {"fc5"});
  const BaselineOutcome free = outcome_of(net, "caffe2_gradients_sized");
  EXPECT_NE(block_of(net, free, "fc5"), -1);
  EXPECT_EQ(block_of(net, free, "fc4_grad"), block_of(net, free, "fc5"));
  EXPECT_NE(block_of(net, free, "fc1_w_grad"), -1);
  net.options.keep = all_of(net, {"fc1_w_grad", "fc5"});
  const BaselineOutcome kept = outcome_of(net, "caffe2_gradients_sized");
  EXPECT_EQ(block_of(net, kept, "fc5"), -1);
  EXPECT_EQ(block_of(net, kept, "fc1_w_grad"), -1);
  EXPECT_NE(block_of(net, kept, "fc4_grad"), -1);
}

TEST(Caffe2Gradients, WithoutGradientsNothingIsShared) {
  Net net = net_of(training(5), {.outputs = {"loss"}});
  net.options.hosts = all_of(net, {"fc1", "fc2", "fc3", "fc4", "pred", "xent"});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_gradients");
  EXPECT_EQ(outcome.shared_buffers, 0);
  EXPECT_EQ(outcome.blobs_left, 39);
  EXPECT_EQ(outcome.bytes, outcome.naive);
}

// One buffer is free when Concat runs, that of fc1_grad. The first result that may move takes it. The original
// shared every name with "_grad" in it, so even information about a split on the CPU moved.
TEST(Caffe2Gradients, GradientsAreListedAndNotRecognizedByName) {
  Net net = net_of(training(2) + "Concat data_grad -> x_grad_split_info,both_grad\n", {.outputs = {"loss"}});
  net.options.gradients = all_of(net, gradient_names(2));
  net.options.gradients.push_back(last_of(net, "both_grad"));
  const BaselineOutcome outcome = outcome_of(net, "caffe2_gradients");
  EXPECT_EQ(block_of(net, outcome, "both_grad"), block_of(net, outcome, "fc1_grad"));
  EXPECT_EQ(block_of(net, outcome, "x_grad_split_info"), -1);
  net.options.gradients.push_back(last_of(net, "x_grad_split_info"));
  EXPECT_NE(block_of(net, outcome_of(net, "caffe2_gradients"), "x_grad_split_info"), -1);
}

TEST(Caffe2Gradients, ResNet50TrainingSharesItsGradients) {
  const TrainingNet training = resnet50_training();
  Net net = net_of(training.text, {.outputs = {"loss"}, .bytes = training.bytes});
  net.options.gradients = all_of(net, training.gradients);
  net.options.keep = all_of(net, {"conv1_w_grad"});
  const BaselineOutcome alone = outcome_of(net, "caffe2_gradients");
  EXPECT_LT(alone.blobs_left, alone.blobs);
  EXPECT_EQ(block_of(net, alone, "conv1_w_grad"), -1);
  EXPECT_EQ(block_of(net, alone, "loss"), -1);

  net.options.hosts = all_of(net, training.forward);
  const BaselineOutcome hosted = outcome_of(net, "caffe2_gradients");
  EXPECT_LT(hosted.blobs_left, alone.blobs_left);
  // 488 of 1041 million: the gradients are as large as the tensors
  EXPECT_LT(alone.bytes.count(), alone.naive.count() / 2);
  EXPECT_LT(hosted.bytes, alone.bytes);             // 468
  EXPECT_LT(own_arena(net), hosted.bytes.count());  // 434
}

// By name, the original does not recognize the summed gradients, and leaves 50. If they are listed, 42 are left.
TEST(Caffe2Gradients, SummedGradientsAreShared) {
  Net net = net_of(training_tree(), {.outputs = {"loss1", "loss2"}});
  net.options.gradients = all_of(
      net, {"loss1_grad", "loss2_grad", "xent1_grad", "xent2_grad", "pred1_grad", "pred2_grad", "fc6_grad",
            "fc5_grad_0", "fc5_grad_1", "fc5_grad", "fc4_grad", "fc3_grad", "fc2_grad", "fc1_grad", "data_grad"});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_gradients");
  EXPECT_EQ(outcome.blobs, 53);
  EXPECT_EQ(outcome.blobs_left, 42);
  EXPECT_EQ(outcome.shared_buffers, 4);
  EXPECT_EQ(block_of(net, outcome, "fc6"), -1);
}

// Forward tensors count as tensors of the CPU, which is device 0. On a GPU, no gradient moves into one. A buffer of a
// forward tensor keeps its name.
TEST(Caffe2Gradients, ForwardTensorsHostGradientsOnTheCpuOnly) {
  Net net = net_of(training(5), {.outputs = {"loss"}});
  net.options.gradients = all_of(net, gradient_names(5));
  const BaselineOutcome alone = outcome_of(net, "caffe2_gradients");
  net.options.hosts = all_of(net, {"fc1", "fc2", "fc3", "fc4", "pred", "xent"});
  const BaselineOutcome on_cpu = outcome_of(net, "caffe2_gradients");
  EXPECT_EQ(block_of(net, on_cpu, "pred_grad"), block_of(net, on_cpu, "xent"));
  EXPECT_EQ(on_cpu.blocks[static_cast<std::size_t>(block_of(net, on_cpu, "xent"))].name, "xent");
  net.options.devices = IdVector<TensorId, std::uint32_t>(net.graph.tensors().size(), 1);
  const BaselineOutcome on_gpu = outcome_of(net, "caffe2_gradients");
  EXPECT_EQ(on_gpu.sharing.places, alone.sharing.places);
  EXPECT_EQ(block_of(net, on_gpu, "xent"), -1);
}

// Four FC on the GPU, which is device 1, a copy to the CPU, three FC there, a loss, and the gradients of all.
TEST(Caffe2Gradients, TwoDevicesUseTwoSetsOfBuffers) {
  Net net = net_of(training_on_two_devices(), {.outputs = {"loss"}});
  net.options.gradients = all_of(net, gradient_names(7));
  net.options.gradients.push_back(last_of(net, "copy_grad"));
  net.options.hosts = all_of(net, {"fc1", "fc2", "fc3", "fc5", "fc6", "copy"});
  net.options.devices = IdVector<TensorId, std::uint32_t>(net.graph.tensors().size(), 0);
  std::vector<std::string> on_gpu = {"data", "data_grad"};
  for (const char* layer : {"fc1", "fc2", "fc3", "fc4"}) {
    for (const char* suffix : {"", "_grad", "_w", "_b", "_w_grad", "_b_grad"})
      on_gpu.push_back(std::string(layer) + suffix);
  }
  for (TensorId id : all_of(net, on_gpu)) net.options.devices[id] = 1;
  const BaselineOutcome outcome = outcome_of(net, "caffe2_gradients");
  EXPECT_EQ(outcome.original_failure, std::nullopt);
  std::set<std::uint32_t> blocks_of_gpu;
  std::set<std::uint32_t> blocks_of_cpu;
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    if (place) (net.options.devices[id] == 1 ? blocks_of_gpu : blocks_of_cpu).insert(place->block);
  }
  EXPECT_FALSE(blocks_of_gpu.empty());
  EXPECT_FALSE(blocks_of_cpu.empty());
  for (std::uint32_t block : blocks_of_gpu) EXPECT_FALSE(blocks_of_cpu.contains(block));
}

// If several inputs feed one node, the original crashes for some orders of them. Here the node waits for all inputs.
TEST(Caffe2Dag, ANodeWaitsForAllItsInputs) {
  const Net net = net_of("P d2,d2 -> b0; Q d2,b0,data -> b1; R b0,b1 -> b2,b3; S b2,b3 -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_dag");
  EXPECT_LE(own_arena(net), outcome.bytes.count());
  EXPECT_EQ(outcome.original_failure, std::nullopt);
  Net other = net;  // from data, Q is visited before b0 is there
  other.options.heads = all_of(net, {"data", "d2"});
  EXPECT_EQ(outcome_of(other, "caffe2_dag").original_failure,
            "it stops, because node 1 (Q) was visited from a head before its other inputs were there");
}

TEST(Caffe2Dag, ANodeMayWriteOverAnInput) {
  const Net net = net_of("Relu data -> data; F data -> a; F a -> b; F b -> c; F c -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_dag");  // the original refuses it
  EXPECT_EQ(outcome.original_failure,
            "it stops, because node 0 (Relu) reads 'data' before the first node that writes this name");
  EXPECT_EQ(block_of(net, outcome, "data"), -1);
  EXPECT_EQ(block_of(net, outcome, "c"), block_of(net, outcome, "a"));
}

// The original gives b3 the buffer of b2, which the last reader of b2 may still read.
TEST(Caffe2Dag, EarlierReadersDoNotDependOnAWriteInPlace) {
  const Net net =
      net_of("P data,data -> b0; Q b0 -> b1,b2; R b1,b0 -> b3; S b2,b1 -> b1; T b3 -> b4", {.outputs = {"b4"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_dag");
  EXPECT_TRUE(outcome.original_failure);
  const int b3 = block_of(net, outcome, "b3");
  EXPECT_TRUE(b3 == -1 || b3 != block_of(net, outcome, "b2"));
}

TEST(Caffe2Dag, OneResultInPlaceAndOneNewKeepsBothBranches) {
  const Net chain = net_of("F x -> fc3; F fc3 -> fc4; Mul fc3,fc4 -> fc4; F fc4 -> fc5; F fc5 -> fc6; F fc6 -> o",
                           {.outputs = {"o"}});
  EXPECT_LT(outcome_of(chain, "caffe2_dag").blobs_left, 6);
  const Net two =
      net_of("F d -> x; F d -> y; G x,y -> x,z; F x -> a; F z -> b; Sum a,b -> c; F c -> o", {.outputs = {"o"}});
  EXPECT_LT(outcome_of(two, "caffe2_dag").blobs_left, 8);
}

// y is not needed after C, whichever node wrote it first, so u takes its buffer, and v that of z. If B came before
// A, C would read what A has written over it.
TEST(Caffe2Dag, ABlobWrittenTwiceIsReadAfterTheSecondWrite) {
  const Net net = net_of("A x -> y; B x -> y; C y -> z; D z -> u; E u -> v; F v -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_dag");
  const Rows expected = {{"__m0_shared", {"y", "y@1", "u"}}, {"__m1_shared", {"z", "v"}}};
  EXPECT_EQ(rows_of(net, outcome), expected);
  EXPECT_EQ(refusal_of(net, {1, 0, 2, 3, 4, 5}),
            "tensors 'y@1' and 'y' are colocated, but the first is still needed when the second is written, by "
            "node 2 of the order");
}

// The ops are 0: a -> b; 1: b -> c; 2: d -> b; 3: b -> e. The original accepts the order 0 2 1 3, in which op 1
// reads the wrong b.
TEST(Caffe2Dag, AReaderComesBeforeTheNextWriteOfItsName) {
  const Net net = net_of("A a -> b; B b -> c; C d -> b; D b -> e", {.outputs = {"c", "e"}});
  EXPECT_EQ(refusal_of(net, {0, 2, 1, 3}),
            "tensors 'b' and 'b@1' are colocated, but the first is still needed when the second is written, by "
            "node 2 of the order");
  EXPECT_EQ(refusal_of(net, {0, 1, 2, 3}), "");
  EXPECT_EQ(own_arena(net), 3 * 64);  // c, b and e, in any order
}

// The original once added an edge from the second copy back to the first.
TEST(Caffe2Dag, ThreeCopiesInPlaceRunInARow) {
  const Net net = net_of("P x -> b1; Copy b1 -> b1; Copy b1 -> b1; Copy b1 -> b1; F b1 -> o", {.outputs = {"o"}});
  EXPECT_EQ(outcome_of(net, "caffe2_dag").blobs, 3);
  const Result<baselines_internal::BlobNet> blobs = baselines_internal::blob_net(
      net.graph, given_order(net.graph), net.options, Bytes(1), baselines_internal::ViewRule::none);
  ASSERT_TRUE(blobs.ok());
  const PartialOrder order = chains_of(blobs->sources);
  EXPECT_EQ(order.chains, 1U);
  const Result<HappensBefore> runs = HappensBefore::make(order);
  ASSERT_TRUE(runs.ok());
  for (const auto& [first, second] : {std::pair(1U, 2U), {1U, 3U}, {2U, 3U}}) {
    EXPECT_TRUE(runs->is_before(first, second)) << first << " " << second;
    EXPECT_FALSE(runs->is_before(second, first)) << first << " " << second;
  }
}

// The walk starts at the readers of heads, so it never visits these nodes.
TEST(Caffe2Dag, NodesAfterANodeWithoutInputsDoNotShare) {
  const Net net = net_of("ConstantFill -> a; F a -> b; F b -> c; F c -> d; F d -> o", {.outputs = {"o"}});
  EXPECT_EQ(outcome_of(net, "caffe2_dag").blobs_left, 5);
}

// The choice depends on the heap of free buffers. Its root is the buffer whose name comes first, so a comes before b.
// Whatever is examined first is taken if it is at least as large as needed. A smaller one is taken only if a larger
// one does not follow.
TEST(Caffe2DagSized, TheChoiceDependsOnTheHeap) {
  struct Case {
    std::int64_t a, b, need;
    const char* taken;
  };
  for (const Case& one : {Case{100, 10, 10, "a"}, Case{10, 100, 10, "a"}, Case{30, 5, 40, "a"}, Case{5, 30, 40, "b"},
                          Case{30, 50, 40, "b"}}) {
    const Net net = net_of("P x -> a,b; Q a,b -> c; R c -> d; S d -> o",
                           {.outputs = {"o"}, .bytes = {{"a", one.a}, {"b", one.b}, {"d", one.need}}});
    const BaselineOutcome outcome = outcome_of(net, "caffe2_dag_sized");
    EXPECT_EQ(block_of(net, outcome, "d"), block_of(net, outcome, one.taken)) << one.a << " " << one.b;
    EXPECT_NE(block_of(net, outcome, "d"), -1) << one.a << " " << one.b;
  }
}

// 65536 x 65536 floats are 2^34 bytes, which is 0 in 32 bits.
TEST(Caffe2DagSized, SizesHave64Bits) {
  const std::int64_t huge = std::int64_t{1} << 34;
  const Net net = net_of("F x -> a; F a -> b; F b -> c; F c -> o",
                         {.outputs = {"o"}, .bytes = {{"a", huge}, {"b", 8}, {"c", huge}, {"o", 0}}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_dag_sized");
  EXPECT_EQ(outcome.bytes, Bytes(huge + 8));
  EXPECT_TRUE(outcome.proven_optimal);
}

// A buffer keeps the size of its first tensor in the eyes of the rule. c grows the buffer of a to 100. When e needs
// 100, that buffer counts as 10, and the one of b, which has d, is not free yet.
TEST(Caffe2DagSized, ABufferThatGrewKeepsItsFirstSize) {
  const Net net =
      net_of("F x -> a; F a -> b; F b -> c; F c -> d; F d -> e; F e -> o",
             {.outputs = {"o"}, .bytes = {{"a", 10}, {"b", 20}, {"c", 100}, {"d", 20}, {"e", 100}, {"o", 0}}});
  EXPECT_EQ(outcome_of(net, "caffe2_dag_sized").bytes, Bytes(120));
}

// The original needs 0.03 to 10 seconds, and four times as long for twice the nodes.
TEST(Caffe2Dag, PlansTenThousandNodesInFourBranches) {
  const BaselineOutcome outcome = outcome_of(net_of(wide(4, 2600), {.outputs = {"out"}}), "caffe2_dag");
  EXPECT_EQ(outcome.shared_buffers, 8);
}

}  // namespace
}  // namespace lowtide::testing
