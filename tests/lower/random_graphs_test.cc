// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/builder.h"
#include "lowtide/lower/lower.h"
#include "lowtide/verify/verify.h"
#include "tests/testing/random_passes.h"

namespace lowtide {
namespace {

// A graph with inputs, constants, pure and random nodes, and unknown operators.
Graph random_graph(Random& random) {
  GraphBuilder builder("g");
  std::vector<TensorId> tensors;
  const auto add = [&](Role role) {
    const std::string name = "t" + std::to_string(tensors.size());
    return tensors.emplace_back(builder.add_tensor({.name = name, .shape = Shape({4})}, role));
  };
  for (std::int64_t count = random.between(1, 3); count > 0; --count) add(Role::input);
  for (std::int64_t count = random.between(1, 3); count > 0; --count) add(Role::constant);
  std::vector<TensorId> outputs;
  for (std::int64_t count = random.between(1, 12); count > 0; --count) {
    const auto any = [&] { return tensors[random.below(tensors.size())]; };
    static constexpr const char* kTypes[] = {"Neg", "Add", "Mul", "RandomNormalLike", "Unheard", "Split"};
    const std::string type = kTypes[random.below(6)];
    GraphBuilder::NodeSpec node{.name = "n" + std::to_string(count), .type = type, .inputs = {any()}};
    if (type == "Add" || type == "Mul") node.inputs.emplace_back(any());
    node.outputs.emplace_back(add(Role::temporary));
    if (type == "Split") node.outputs.emplace_back(add(Role::temporary));
    if (random.chance(30)) outputs.push_back(tensors.back());
    builder.add_node(std::move(node));
  }
  outputs.push_back(tensors.back());
  builder.set_outputs(std::move(outputs));
  return *std::move(builder).build();
}

// Whether some path from an input, a random node or an unknown operator leads to the tensor. Follows every path back.
bool varies(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (!tensor.producer) return tensor.role != Role::constant;
  const OperatorTraits& traits = graph.op(*tensor.producer).traits;
  if (!traits.is_pure || traits.is_random) return true;
  for (TensorId read : graph.reads(*tensor.producer)) {
    if (varies(graph, read)) return true;
  }
  return false;
}

TEST(LowerRandomGraphs, LeaveOutExactlyTheWorkOnConstants) {
  Random random(12);
  int with_load_time_work = 0;
  int with_chains = 0;
  for (int round = 0; round < 500; ++round) {
    const Graph graph = random_graph(random);
    const Result<Lowered> lowered =
        lower(graph, {.passes = testing::random_passes(random, {{PassId::unneeded, 50},
                                                                {PassId::load_time, 100},
                                                                {PassId::chains, 50},
                                                                {PassId::inputs_in_arena, 50},
                                                                {PassId::outputs_at_caller, 50}})});
    ASSERT_TRUE(lowered.ok()) << lowered.error().describe();
    for (const Violation& violation : verify_lowering(graph, lowered->graph, lowered->load))
      ADD_FAILURE() << violation.message;
    with_load_time_work += lowered->load.nodes().empty() ? 0 : 1;
    with_chains += std::ranges::count(lowered->passes, "chains") > 0 ? 1 : 0;
    for (TensorId id : all_ids<TensorId>(lowered->graph.tensors().size())) {
      const Tensor& tensor = lowered->graph.tensor(id);
      for (TensorId original : all_ids<TensorId>(graph.tensors().size())) {
        if (graph.tensor(original).name != tensor.name) continue;
        EXPECT_EQ(tensor.role != Role::constant, varies(graph, original)) << tensor.name;
      }
    }
  }
  EXPECT_GT(with_load_time_work, 100);
  EXPECT_GT(with_chains, 30);
}

}  // namespace
}  // namespace lowtide
