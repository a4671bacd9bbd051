// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/ports/static_runtime_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowtide/earlier/baselines/static_runtime_runs.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using NamedGroups = std::map<std::string, std::set<std::string>>;

NamedGroups groups_of(const Net& net, const BaselineOutcome& outcome) {
  NamedGroups groups;
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    if (place) groups[outcome.blocks[place->block].name].insert(net.graph.tensor(id).name);
  }
  return groups;
}

Net random_net_of_runs(Random& random, unsigned views) {
  return random_plain_net(random, {.nodes = static_cast<int>(random.between(1, 24)),
                                   .inputs = 3,
                                   .read_twice = 10,
                                   .views = views,
                                   .constants = 10,
                                   .sizes = random.chance(50) ? 3 : 30});
}

std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

TEST(StaticRuntimePort, GivesTheSameGroups) {
  Random random(52);
  for (int round = 0; round < 2000; ++round) {
    const Net net = random_net_of_runs(random, 0);
    SCOPED_TRACE(print_graph(net.graph));
    const PlainNet plain = plain_net_of(net);
    NamedGroups expected;
    std::int64_t outputs = 0;
    std::int64_t managed = 0;
    for (const std::string& name : plain.outputs) outputs += rounded(plain.bytes.at(name));
    std::int64_t bytes = outputs;
    const std::vector<std::set<std::string>> groups = ported_storage_groups(plain);
    for (std::size_t at = 0; at < groups.size(); ++at) {
      std::int64_t most = 0;
      for (const std::string& name : groups[at]) {
        most = std::max(most, rounded(plain.bytes.at(name)));
        managed += rounded(plain.bytes.at(name));
      }
      bytes += most;
      expected["group " + std::to_string(at)] = groups[at];
    }
    const BaselineOutcome outcome = outcome_of(net, "static_runtime_groups");
    EXPECT_EQ(groups_of(net, outcome), expected);
    EXPECT_EQ(outcome.bytes.count(), bytes);
    EXPECT_EQ(outcome_of(net, "static_runtime_side_by_side").bytes.count(), managed + outputs);
    if (HasFailure()) return;
  }
}

// The same graph with other sizes.
Graph graph_with(const Graph& graph, const PortedSizes& sizes) {
  GraphBuilder builder(graph.name());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    builder.add_tensor({.name = tensor.name, .dtype = DType::u8, .shape = Shape({sizes.at(tensor.name)})},
                       tensor.role == Role::output ? Role::temporary : tensor.role);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) builder.add_node(GraphBuilder::spec_of(graph, id));
  builder.set_outputs(graph.outputs());
  return *std::move(builder).build();
}

// Sizes of one run: often those of the run before, sometimes much larger ones. A view is as large as its base.
PortedSizes draw_sizes(Random& random, const PlainNet& net, const PortedSizes& before) {
  PortedSizes sizes = before;
  const std::int64_t most = random.chance(30) ? 1000 : 130;
  const unsigned changed = random.chance(30) ? 100 : 30;
  for (auto& [name, bytes] : sizes) {
    if (random.chance(changed)) bytes = random.between(0, most);
  }
  for (const PlainNet::Op& op : net.ops) {
    for (const std::string& name : op.outputs) {
      if (net.view_of.contains(name)) sizes[name] = sizes.at(net.view_of.at(name));
    }
  }
  return sizes;
}

void expect_same_runs(const std::vector<StaticRuntimeRun>& own, const std::vector<PortedRun>& ported) {
  ASSERT_EQ(own.size(), ported.size());
  for (std::size_t at = 0; at < own.size(); ++at) {
    EXPECT_EQ(own[at].block.count(), ported[at].block) << at;
    EXPECT_EQ(own[at].outputs_block.count(), ported[at].outputs_block) << at;
    EXPECT_EQ(own[at].outside.count(), ported[at].outside) << at;
    EXPECT_EQ(own[at].grown, ported[at].grown) << at;
    EXPECT_EQ(own[at].held.count(), ported[at].held) << at;
  }
}

TEST(StaticRuntimePort, LearnsTheSameSizes) {
  Random random(55);
  int grown = 0;
  int managed_outputs = 0;
  int fewer = 0;  // runs for which groups need a smaller block than the first version
  for (int round = 0; round < 2000; ++round) {
    const Net net = random_net_of_runs(random, 15);
    const PlainNet plain = plain_net_of(net);
    std::vector<PortedSizes> sizes;
    std::vector<Graph> graphs;
    const std::int64_t count = random.between(1, 8);
    for (std::int64_t run = 0; run < count; ++run) {
      sizes.push_back(draw_sizes(random, plain, sizes.empty() ? plain.bytes : sizes.back()));
      graphs.push_back(graph_with(net.graph, sizes.back()));
    }
    std::vector<const Graph*> runs;
    for (const Graph& graph : graphs) runs.push_back(&graph);
    const bool manages = random.chance(50);
    SCOPED_TRACE(print_graph(net.graph));
    const Result<StaticRuntimeRuns> own =
        static_runtime_runs(runs, given_order(net.graph), {.manage_outputs = manages});
    ASSERT_TRUE(own.ok()) << own.error().describe();
    expect_same_runs(own->side_by_side, ported_runs(plain, sizes, false, manages));
    expect_same_runs(own->groups, ported_runs(plain, sizes, true, manages));
    managed_outputs += own->managed_outputs > 0 ? 1 : 0;
    for (std::size_t at = 0; at < runs.size(); ++at) {
      grown += own->groups[at].grown > 0 ? 1 : 0;
      fewer += own->groups[at].block < own->side_by_side[at].block ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(grown, 1000);
  EXPECT_GT(managed_outputs, 500);
  EXPECT_GT(fewer, 1000);
}

}  // namespace
}  // namespace lowtide::testing
