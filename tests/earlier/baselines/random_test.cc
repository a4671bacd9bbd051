// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/graph/text.h"
#include "tests/earlier/baselines/nets.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

// Makes temporaries gradients, hosts, both or neither.
void draw_roles(Random& random, Net& net) {
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    if (net.graph.tensor(id).role != Role::temporary) continue;
    if (random.chance(50)) net.options.gradients.push_back(id);
    if (random.chance(30)) net.options.hosts.push_back(id);
  }
  net.options.heads = net.graph.inputs();
}

// Uses two devices; all tensors of a name are on one of them.
void draw_net_devices(Random& random, Net& net) {
  for (std::size_t at = 0; at < net.graph.tensors().size(); ++at) {
    net.options.devices.push_back(static_cast<std::uint32_t>(random.below(2)));
  }
  for (const std::vector<TensorId>& name : net.options.colocated) {
    for (TensorId id : name) net.options.devices[id] = net.options.devices[name.front()];
  }
}

// Checks the outcome. outcome_of throws if the verifier finds anything.
BaselineOutcome sane_outcome_of(const Net& net, std::string_view baseline) {
  BaselineOutcome outcome = outcome_of(net, std::string(baseline));
  EXPECT_LE(outcome.bytes, outcome.naive) << baseline;
  EXPECT_LE(outcome.blobs_left.value_or(0), outcome.blobs) << baseline;
  if (baseline.starts_with("caffe2_gradients")) return outcome;
  EXPECT_TRUE(outcome.best) << baseline;
  EXPECT_LE(*outcome.best, outcome.bytes) << baseline;
  EXPECT_LE(outcome.bound, *outcome.best) << baseline;
  return outcome;
}

// Returns how many baselines share, which are those with a block of several blobs.
int expect_sane(const Net& net, std::string_view system = "") {
  int sharing = 0;
  for (const BaselineSpec& spec : baselines()) {
    if (!system.empty() && spec.system != system) continue;
    const BaselineOutcome outcome = sane_outcome_of(net, spec.name);
    if (outcome.blobs_left && *outcome.blobs_left < outcome.blobs) ++sharing;
  }
  return sharing;
}

TEST(Baselines, AreValidOnRandomGraphs) {
  Random random(11);
  int gradients_shared = 0;
  for (int round = 0; round < 300; ++round) {
    Net net{random_graph(random, 12), {}};
    draw_roles(random, net);
    expect_sane(net);
    const BaselineOutcome gradients = outcome_of(net, "caffe2_gradients");
    if (*gradients.blobs_left < gradients.blobs) ++gradients_shared;
  }
  EXPECT_GT(gradients_shared, 40);
}

// Views may not cross devices, so this is only for baselines without views.
TEST(Baselines, AreValidOnRandomDevices) {
  Random random(15);
  int shared = 0;
  for (int round = 0; round < 300; ++round) {
    Net net{random_graph(random, 12), {}};
    draw_roles(random, net);
    draw_net_devices(random, net);
    shared += expect_sane(net, "Caffe2");
  }
  EXPECT_GT(shared, 300);  // of 1800
}

// Names that are written again, in place or not, by random nodes with up to two results. Some nodes have a body. The
// two inputs are read at any time and may be written over as well.
std::string random_net_text(Random& random, int nodes) {
  std::string text;
  int made = 0;
  const auto any = [&] {
    if (made == 0 || random.chance(20)) return std::string(random.chance(50) ? "data" : "data2");
    return "b" + std::to_string(random.below(static_cast<std::uint64_t>(made)));
  };
  const auto result = [&](const std::string& other) {
    std::string name = random.chance(25) ? any() : "b" + std::to_string(made);
    if (name == other) name = "b" + std::to_string(made);
    if (name == "b" + std::to_string(made)) ++made;
    return name;
  };
  for (int at = 0; at < nodes; ++at) {
    text += "F " + any() + "," + any();
    if (random.chance(15)) text += " captures " + any();
    text += " -> ";
    const std::string first = result("");
    text += first;
    if (random.chance(30)) text += "," + result(first);
    text += "\n";
  }
  return text;
}

Net random_named_net(Random& random, int nodes) {
  const std::string text = random_net_text(random, nodes);
  const bool has_result = text.find("b0") != std::string::npos;
  return net_of(text, {.outputs = {has_result ? "b0" : "data"}});
}

// In the originals, some of a hundred such nets get wrong data or crash. With two inputs, one in six crashes.
TEST(Baselines, AreValidOnNetsWithNamesWrittenAgain) {
  Random random(12);
  int inputs_written_over = 0;
  for (int round = 0; round < 1000; ++round) {
    Net net = random_named_net(random, 10);
    SCOPED_TRACE(print_graph(net.graph));
    draw_roles(random, net);
    expect_sane(net);
    draw_net_devices(random, net);
    expect_sane(net, "Caffe2");
    sane_outcome_of(net, "static_runtime_groups");
    for (const std::vector<TensorId>& name : net.options.colocated) {
      if (net.graph.tensor(name.front()).role == Role::input) ++inputs_written_over;
    }
  }
  EXPECT_GT(inputs_written_over, 200);
}

// Whether all users of a tensor come before the node that writes the next tensor of its name, in the given order. A
// node may use one and write the next.
bool keeps_names(const Net& net, const std::vector<NodeId>& order) {
  IdVector<NodeId, std::size_t> position(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = at;
  for (const std::vector<TensorId>& name : net.options.colocated) {
    for (std::size_t version = 1; version < name.size(); ++version) {
      const std::size_t write = position[*net.graph.tensor(name[version]).producer];
      const std::optional<NodeId> before = net.graph.tensor(name[version - 1]).producer;
      if (before && position[*before] >= write) return false;
      for (NodeId reader : net.graph.readers(name[version - 1])) {
        if (position[reader] > write) return false;
      }
    }
  }
  return true;
}

// A result that is valid for dependencies is valid in every order that they permit. For names that are written
// again, all users of a tensor must come before the node that writes the next tensor of the name.
void expect_right_in_every_order(const Net& net, const std::string& baseline) {
  SharingClaim sharing = outcome_of(net, baseline).sharing;
  sharing.execution = ExecutionModel::sequence;
  for_every_order(net.graph, [&](const std::vector<NodeId>& order) {
    if (!keeps_names(net, order)) return;
    sharing.order = order;
    EXPECT_THAT(check_sharing(net.graph, sharing), ::testing::IsEmpty());
  });
}

TEST(Baselines, OfDependenciesAreValidInEveryOrder) {
  Random random(13);
  for (int round = 0; round < 60; ++round) {
    Net net{random_graph(random, 7), {}};
    draw_roles(random, net);
    for (const char* baseline : {"caffe2_dag", "caffe2_dag_sized", "caffe2_gradients", "caffe2_gradients_sized"}) {
      expect_right_in_every_order(net, baseline);
    }
  }
  for (int round = 0; round < 60; ++round) {
    Net net = random_named_net(random, 7);
    SCOPED_TRACE(print_graph(net.graph));
    draw_roles(random, net);
    for (const char* baseline : {"caffe2_dag", "caffe2_dag_sized", "caffe2_gradients", "caffe2_gradients_sized"}) {
      expect_right_in_every_order(net, baseline);
    }
  }
}

// The same input gives the same names and places.
TEST(Baselines, PlanTheSameTwice) {
  const Net net = net_of(resnet50(), {.outputs = {"softmax"}});
  for (const BaselineSpec& spec : baselines()) {
    const BaselineOutcome first = outcome_of(net, std::string(spec.name));
    const BaselineOutcome second = outcome_of(net, std::string(spec.name));
    EXPECT_EQ(first.sharing.places, second.sharing.places) << spec.name;
    EXPECT_EQ(block_names(first), block_names(second)) << spec.name;
    EXPECT_EQ(first.best, second.best) << spec.name;
  }
}

TEST(Baselines, ExactSlotsAreNeverLarger) {
  Random random(14);
  for (int round = 0; round < 100; ++round) {
    const Net net{random_graph(random, 10), {}};
    const BaselineOutcome exact = outcome_of(net, "caffe2_interference_exact");
    EXPECT_TRUE(exact.proven_optimal);
    EXPECT_LE(exact.bytes, outcome_of(net, "caffe2_interference_greedy").bytes);
    EXPECT_LE(exact.bytes, outcome_of(net, "caffe2_dag_sized").bytes);
  }
}

std::string refusal(const Net& net, const std::vector<NodeId>& order, BaselineOptions options) {
  const Result<BaselineOutcome> outcome = apply_baseline(net.graph, order, options);
  return outcome ? "" : outcome.error().message;
}

TEST(Baselines, InvalidRequestsAreRefused) {
  const Net net = net_of("F x -> a; F a -> b; F a -> c; G b,c -> o", {.outputs = {"o"}});
  const std::vector<NodeId> order = given_order(net.graph);
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal(net, order, {.baseline = "caffe3"}),
              HasSubstr("no baseline matches 'caffe3'; known baselines: tflite_micro_greedy, "));
  EXPECT_THAT(refusal(net, {order[1], order[0], order[2], order[3]}, {.baseline = "caffe2_simple"}),
              HasSubstr("node 1 comes before node 0, whose output it reads"));
  EXPECT_THAT(refusal(net, {order[0]}, {.baseline = "caffe2_simple"}), HasSubstr("has 1 nodes, but the graph has 4"));
  EXPECT_THAT(refusal(net, {order[0], order[0]}, {.baseline = "caffe2_simple"}), HasSubstr("node 0 appears twice"));
  EXPECT_THAT(refusal(net, order, {.baseline = "caffe2_simple", .alignment = Bytes(3)}), HasSubstr("power of two"));
  EXPECT_THAT(refusal(net, order, {.baseline = "caffe2_simple", .colocated = {all_of(net, {"a", "b"})}}),
              HasSubstr("'a' and 'b' are colocated, but the first is still needed"));
  EXPECT_THAT(refusal(net, order, {.baseline = "caffe2_simple", .colocated = {{TensorId(99)}}}),
              HasSubstr("tensor 99"));
  EXPECT_THAT(refusal(net, order, {.baseline = "caffe2_simple", .keep = {TensorId(99)}}), HasSubstr("tensor 99"));
  EXPECT_THAT(refusal(net, order, {.baseline = "caffe2_gradients", .gradients = {TensorId(99)}}),
              HasSubstr("tensor 99"));
  EXPECT_THAT(refusal(net, order, {.baseline = "caffe2_simple", .devices = IdVector<TensorId, std::uint32_t>(2, 0)}),
              HasSubstr("devices are given for 2 tensors"));
}

}  // namespace
}  // namespace lowtide::testing
