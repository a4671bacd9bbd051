// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/ports/aitemplate_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "lowtide/earlier/baselines/aitemplate_times.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// The tensors that have a place, except views.
std::map<std::string, std::int64_t> offsets_in(const Net& net, const BaselineOutcome& outcome) {
  std::map<std::string, std::int64_t> offsets;
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    if (place && !outcome.sharing.view_of[id]) offsets[net.graph.tensor(id).name] = place->offset.position();
  }
  return offsets;
}

void expect_same(const Net& net, const AitemplatePlan& plan, const std::string& baseline) {
  const BaselineOutcome outcome = outcome_of(net, baseline);
  EXPECT_EQ(outcome.bytes.count(), plan.bytes) << baseline;
  EXPECT_EQ(offsets_in(net, outcome), plan.offsets) << baseline;
}

Net random_net(Random& random) {
  return random_plain_net(random, {.nodes = static_cast<int>(random.between(1, 20)),
                                   .inputs = 4,
                                   .read_twice = 10,
                                   .views = 15,
                                   .constants = 20,
                                   .nodes_without_inputs = 5,
                                   .sizes = random.chance(50) ? 40 : 8});
}

TEST(AitemplatePort, GreedyGivesTheSameOffsets) {
  Random random(31);
  for (int round = 0; round < 2000; ++round) {
    const Net net = random_net(random);
    SCOPED_TRACE(print_graph(net.graph));
    expect_same(net, ported_greedy(plain_net_of(net)), "aitemplate_greedy_by_size");
    if (HasFailure()) return;
  }
}

TEST(AitemplatePort, MultistreamGivesTheSameWavesAndOffsets) {
  Random random(32);
  for (int round = 0; round < 2000; ++round) {
    Net net = random_net(random);
    if (random.chance(50)) net.options.nodes_at_once = static_cast<std::uint32_t>(random.between(1, 3));
    SCOPED_TRACE(print_graph(net.graph));
    const PlainNet plain = plain_net_of(net);
    expect_same(net, ported_multistream(plain, net.options.nodes_at_once), "aitemplate_multistream");
    const ParallelOps waves = ported_waves(plain, net.options.nodes_at_once);
    const BaselineOutcome outcome = outcome_of(net, "aitemplate_multistream");
    for (std::uint32_t wave = 0; wave < waves.size(); ++wave) {
      for (std::size_t at : waves[wave]) {
        EXPECT_EQ(outcome.sharing.wave[NodeId(static_cast<std::uint32_t>(at))], wave);
      }
    }
    if (HasFailure()) return;
  }
}

TEST(AitemplatePort, NaiveIsTheSumOfWhatHasARecord) {
  Random random(33);
  for (int round = 0; round < 1000; ++round) {
    const Net net = random_net(random);
    const PlainNet plain = plain_net_of(net);
    std::int64_t sum = 0;
    for (const auto& [name, offset] : ported_greedy(plain).offsets) sum += (plain.bytes.at(name) + 63) / 64 * 64;
    EXPECT_EQ(outcome_of(net, "aitemplate_naive").bytes.count(), sum);
  }
}

// b0, b1 and x1 have 64 KiB, the others 64 bytes. x0 and b2 are small. At the first node, x0 and b0 are live, then b0
// and b1, then b1 and b2, then x1, b2 and y. If x1 were live from the start, three large tensors would be live at the
// second node.
TEST(AitemplateInputs, AreLiveFromTheirFirstUse) {
  const Net net = net_of(
      "G x0,k0 -> b0; G b0,k1 -> b1; G b1,k2 -> b2; G x1,b2 -> y",
      {.outputs = {"y"}, .bytes = {{"b0", 65536}, {"b1", 65536}, {"x1", 65536}}, .constants = {"k0", "k1", "k2"}});
  const BaselineOutcome outcome = outcome_of(net, "aitemplate_greedy_by_size");
  EXPECT_TRUE(outcome.sharing.inputs_at_first_use);
  EXPECT_EQ(ported_greedy(plain_net_of(net)).bytes, outcome.bytes.count());
  EXPECT_EQ(outcome.bytes.count(), 131136);
}

TEST(AitemplateInputs, WithoutReadersHaveNoPlace) {
  const Net net{graph_of(R"(graph "g" {
    input x : u8[64]
    input unread : u8[4096]
    y = F(x) : u8[64]
    output y
  })"),
                {}};
  for (const char* baseline : {"aitemplate_naive", "aitemplate_greedy_by_size", "aitemplate_multistream"}) {
    const BaselineOutcome outcome = outcome_of(net, baseline);
    EXPECT_EQ(outcome.bytes, Bytes(128)) << baseline;
    EXPECT_EQ(outcome.naive, Bytes(128)) << baseline;
    EXPECT_FALSE(outcome.sharing.places[tensor_named(net.graph, "unread")].has_value()) << baseline;
  }
}

// 100 bytes take 128, so the second constant is at 128.
TEST(AitemplateConstants, HaveOffsetsInTheirRegion) {
  const Net net = net_of("F x,w -> a; F a,v -> y", {.outputs = {"y"}, .bytes = {{"w", 100}}, .constants = {"w", "v"}});
  const BaselineOutcome outcome = outcome_of(net, "aitemplate_greedy_by_size");
  EXPECT_EQ(outcome.constant_at[tensor_named(net.graph, "w")], Offset(0));
  EXPECT_EQ(outcome.constant_at[tensor_named(net.graph, "v")], Offset(128));
  EXPECT_FALSE(outcome.constant_at[tensor_named(net.graph, "x")].has_value());
  EXPECT_EQ(outcome.constants, Bytes(192));
  EXPECT_TRUE(outcome_of(net, "caffe2_simple").constant_at.empty());
}

Graph profiled_graph() {
  GraphBuilder builder("profiled");
  const auto tensor = [&](const char* name, Role role) {
    return builder.add_tensor({.name = name, .dtype = DType::u8, .shape = Shape({64})}, role);
  };
  const TensorId x = tensor("x", Role::input);
  const TensorId a = tensor("a", Role::temporary);
  const TensorId b0 = tensor("b0", Role::temporary);
  const TensorId b1 = tensor("b1", Role::temporary);
  const TensorId o = tensor("o", Role::temporary);
  builder.add_node({.name = "A", .type = "F", .inputs = {x}, .outputs = {a}});
  builder.add_node({.name = "B0", .type = "F", .inputs = {a}, .outputs = {b0}});
  builder.add_node({.name = "B1", .type = "F", .inputs = {a}, .outputs = {b1}});
  builder.add_node({.name = "O", .type = "F", .inputs = {b0, b1}, .outputs = {o}});
  builder.set_outputs({o});
  return std::move(builder).build().value();
}

// A takes 1, B0 2, B1 5 and O 1. B0 and B1 start at 1, and O when B1 has ended.
TEST(AitemplateTimes, AreThoseOfOneStreamAndOfAll) {
  const Graph graph = profiled_graph();
  const ProfiledTimes times =
      profile_times(graph, given_order(graph), {{"A", 1}, {"B0", 2}, {"B1", 5}, {"O", 1}}).value();
  using ::testing::ElementsAre;
  EXPECT_THAT(std::vector<NodeTime>(times.one_stream.begin(), times.one_stream.end()),
              ElementsAre(NodeTime{0, 1, 1}, NodeTime{1, 3, 2}, NodeTime{3, 8, 3}, NodeTime{8, 9, 4}));
  EXPECT_THAT(std::vector<NodeTime>(times.all_streams.begin(), times.all_streams.end()),
              ElementsAre(NodeTime{0, 1, 0}, NodeTime{1, 3, 1}, NodeTime{1, 6, 1}, NodeTime{6, 7, 2}));
  EXPECT_EQ(times.longest_ms, 5);
  EXPECT_EQ(times.total_ms, 9);
}

// With ten times 1 to 10, 10 x 0.7 is index 7, and so on. The graph has none of these nodes.
TEST(AitemplateTimes, PercentilesAreThoseOfTheProfile) {
  const Graph graph = profiled_graph();
  std::map<std::string, double> profile;
  for (int at = 1; at <= 10; ++at) profile["n" + std::to_string(at)] = at;
  const ProfiledTimes times = profile_times(graph, given_order(graph), profile).value();
  EXPECT_EQ(times.percentile_70_ms, 8);
  EXPECT_EQ(times.percentile_90_ms, 10);
  EXPECT_EQ(times.percentile_95_ms, 10);
  EXPECT_EQ(times.total_ms, 55);
  EXPECT_EQ(times.one_stream[NodeId(3)], (NodeTime{0, 0, 4}));
}

TEST(AitemplateTimes, NegativeTimesAreRefused) {
  const Graph graph = profiled_graph();
  for (double time : {-1.0, std::nan("")}) {
    const Result<ProfiledTimes> times = profile_times(graph, given_order(graph), {{"A", time}});
    ASSERT_FALSE(times);
    EXPECT_THAT(times.error().message, ::testing::HasSubstr("the profile gives 'A'"));
  }
}

}  // namespace
}  // namespace lowtide::testing
