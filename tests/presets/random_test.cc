// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lowtide/base/random.h"
#include "lowtide/presets/presets.h"
#include "tests/presets/nets.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using testing::given_order;
using testing::Net;
using testing::net_of;
using testing::outcome_of;
using testing::random_graph;

void expect_sane(const Net& net) {
  for (const PresetSpec& spec : presets()) {
    const PresetOutcome outcome = outcome_of(net, std::string(spec.name));  // throws if the verifier finds anything
    EXPECT_LE(outcome.bytes, outcome.naive) << spec.name;
    if (spec.name == "caffe2_gradients") continue;
    ASSERT_TRUE(outcome.best) << spec.name;
    EXPECT_LE(*outcome.best, outcome.bytes) << spec.name;
    EXPECT_LE(outcome.bound, *outcome.best) << spec.name;
    EXPECT_LE(outcome.blobs_left.value_or(0), outcome.blobs) << spec.name;
  }
}

TEST(Presets, AreRightOnRandomGraphs) {
  Random random(11);
  for (int round = 0; round < 300; ++round) expect_sane({random_graph(random, 12), {}});
}

// Names written again, in place or not, by random nodes of up to two results.
std::string random_net(Random& random, int nodes) {
  std::string text;
  int made = 0;
  const auto any = [&] {
    return made == 0 ? std::string("data") : "b" + std::to_string(random.below(static_cast<std::uint64_t>(made)));
  };
  const auto result = [&](const std::string& other) {
    std::string name = random.chance(25) ? any() : "b" + std::to_string(made);
    if (name == other || name == "data") name = "b" + std::to_string(made);
    if (name == "b" + std::to_string(made)) ++made;
    return name;
  };
  for (int at = 0; at < nodes; ++at) {
    text += "F " + any() + "," + any() + " -> ";
    const std::string first = result("");
    text += first;
    if (random.chance(30)) text += "," + result(first);
    text += "\n";
  }
  return text;
}

// In the originals some of a hundred such nets get wrong data flow, or a crash.
TEST(Presets, AreRightOnRandomNetsWithNamesWrittenAgain) {
  Random random(12);
  for (int round = 0; round < 1000; ++round) {
    const std::string text = random_net(random, 10);
    SCOPED_TRACE(text);
    expect_sane(net_of(text, {.outputs = {"b0"}}));
  }
}

// What is right for dependencies is right in every order that they allow.
TEST(Presets, OfDependenciesAreRightInEveryOrder) {
  Random random(13);
  for (int round = 0; round < 60; ++round) {
    const Net net{random_graph(random, 7), {}};
    SharingClaim sharing = outcome_of(net, "caffe2_dag").sharing;
    sharing.run_order = RunOrder::sequence;
    testing::for_every_order(net.graph, [&](const std::vector<NodeId>& order) {
      sharing.order = order;
      EXPECT_THAT(check_sharing(net.graph, sharing), ::testing::IsEmpty());
    });
  }
}

TEST(Presets, ExactSlotsAreNeverAboveOtherSlots) {
  Random random(14);
  for (int round = 0; round < 100; ++round) {
    const Net net{random_graph(random, 10), {}};
    const PresetOutcome exact = outcome_of(net, "caffe2_interference_exact");
    EXPECT_TRUE(exact.proven_optimal);
    EXPECT_LE(exact.bytes, outcome_of(net, "caffe2_interference_greedy").bytes);
    EXPECT_LE(exact.bytes, outcome_of(net, "caffe2_dag_sized").bytes);
  }
}

std::string refusal(const Net& net, const std::vector<NodeId>& order, PresetOptions options) {
  const Result<PresetOutcome> outcome = apply_preset(net.graph, order, options);
  return outcome ? "" : outcome.error().message;
}

TEST(Presets, WrongQuestionsAreRefused) {
  const Net net = net_of("F x -> a; F a -> b; F a -> c; G b,c -> o", {.outputs = {"o"}});
  const std::vector<NodeId> order = given_order(net.graph);
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal(net, order, {.preset = "caffe3"}), HasSubstr("no preset is called 'caffe3'; there are caffe2_"));
  EXPECT_THAT(refusal(net, {order[1], order[0], order[2], order[3]}, {.preset = "caffe2_simple"}),
              HasSubstr("node 1 comes before node 0, which it reads"));
  EXPECT_THAT(refusal(net, {order[0]}, {.preset = "caffe2_simple"}), HasSubstr("has 1 nodes, the graph 4"));
  EXPECT_THAT(refusal(net, {order[0], order[0]}, {.preset = "caffe2_simple"}), HasSubstr("node 0 comes twice"));
  EXPECT_THAT(refusal(net, order, {.preset = "caffe2_simple", .alignment = Bytes(3)}), HasSubstr("power of two"));
  EXPECT_THAT(refusal(net, order, {.preset = "caffe2_simple", .together = {testing::all_of(net, {"a", "b"})}}),
              HasSubstr("'a' and 'b' are to be together, and the first is still needed"));
  EXPECT_THAT(refusal(net, order, {.preset = "caffe2_simple", .together = {{TensorId(99)}}}), HasSubstr("tensor 99"));
  EXPECT_THAT(refusal(net, order, {.preset = "caffe2_simple", .keep = {TensorId(99)}}), HasSubstr("tensor 99"));
  EXPECT_THAT(refusal(net, order, {.preset = "caffe2_gradients", .gradients = {TensorId(99)}}), HasSubstr("tensor 99"));
  EXPECT_THAT(refusal(net, order, {.preset = "caffe2_simple", .devices = IdVector<TensorId, std::uint32_t>(2, 0)}),
              HasSubstr("devices of 2 tensors"));
}

}  // namespace
}  // namespace lowtide
