// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/base/random.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/text.h"
#include "lowtide/target/target.h"

namespace lowtide::testing {

// A graph from its text; a wrong text is a wrong test.
inline Graph graph_of(std::string_view text) {
  Result<Graph> graph = parse_graph(text, "test");
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

inline TensorId tensor_named(const Graph& graph, std::string_view name) {
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).name == name) return id;
  }
  throw std::runtime_error("no tensor " + std::string(name));
}

inline ChosenKernels dense_kernels(const Graph& graph) {
  ChosenKernels kernels;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) kernels.push_back(dense_catalogue()->kernels(graph, id)[0]);
  return kernels;
}

inline std::vector<NodeId> given_order(const Graph& graph) {
  std::vector<NodeId> order;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) order.push_back(id);
  return order;
}

inline bool is_topological(const Graph& graph, const std::vector<NodeId>& order) {
  IdVector<NodeId, std::size_t> position(graph.nodes().size(), order.size());
  for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = at;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (position[id] == order.size()) return false;
    for (TensorId tensor : graph.reads(id)) {
      if (graph.tensor(tensor).producer && position[*graph.tensor(tensor).producer] >= position[id]) return false;
    }
  }
  return order.size() == graph.nodes().size();
}

// Calls `visit` for every topological order. For graphs of a few nodes.
inline void for_every_order(const Graph& graph, const std::function<void(const std::vector<NodeId>&)>& visit) {
  std::vector<NodeId> order = given_order(graph);
  do {
    if (is_topological(graph, order)) visit(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

// A random graph of operators that may alias: chains and joins of Relu, Add, Reshape, Slice, Split, Concat, Conv.
// Sizes are small multiples of one row of four floats, so that everything sometimes fits everything.
inline Graph random_graph(Random& random, int nodes) {
  GraphBuilder builder("random");
  struct Made {
    TensorId id;
    std::int64_t rows;
    bool is_input;
  };
  std::vector<Made> made;
  int names = 0;
  const auto tensor = [&](std::int64_t rows, Role role = Role::temporary) {
    const TensorId id = builder.add_tensor({.name = "t" + std::to_string(names++), .shape = Shape({rows, 4})}, role);
    made.push_back({id, rows, role != Role::temporary});
    return id;
  };
  const auto numbers = [&](std::vector<std::int64_t> content) {
    const TensorId id = builder.add_tensor({.name = "c" + std::to_string(names++),
                                            .dtype = DType::i64,
                                            .shape = Shape({static_cast<std::int64_t>(content.size())})},
                                           Role::constant);
    builder.set_known_integers(id, std::move(content));
    return id;
  };
  tensor(random.between(1, 3), Role::input);
  for (int at = 0; at < nodes; ++at) {
    // Recent tensors are likelier, as in real networks.
    const std::size_t back = std::min<std::size_t>(made.size() - 1, random.below(4));
    const Made first = made[made.size() - 1 - back];
    const Made second = made[random.below(made.size())];
    switch (random.below(7)) {
      case 0:
        builder.add_node({.type = "Relu", .inputs = {first.id}, .outputs = {tensor(first.rows)}});
        break;
      case 1:
        if (first.rows == second.rows) {
          builder.add_node({.type = "Add", .inputs = {first.id, second.id}, .outputs = {tensor(first.rows)}});
          break;
        }
        [[fallthrough]];
      case 2:
        builder.add_node({.type = "Conv", .inputs = {first.id}, .outputs = {tensor(random.between(1, 4))}});
        break;
      case 3:
        builder.add_node({.type = "Reshape", .inputs = {first.id}, .outputs = {tensor(first.rows)}});
        break;
      case 4: {
        const std::int64_t begin = random.between(0, first.rows - 1);
        const std::int64_t end = random.between(begin + 1, first.rows);
        const TensorId starts = numbers({begin});
        const TensorId ends = numbers({end});
        const TensorId axes = numbers({0});
        builder.add_node({.type = "Slice", .inputs = {first.id, starts, ends, axes}, .outputs = {tensor(end - begin)}});
        break;
      }
      case 5:
        if (first.rows >= 2) {
          const TensorId a = tensor(1);
          const TensorId b = tensor(first.rows - 1);
          builder.add_node(
              {.type = "Split",
               .inputs = {first.id},
               .outputs = {a, b},
               .attributes = {{"axis", std::int64_t{0}}, {"split", std::vector<std::int64_t>{1, first.rows - 1}}}});
          break;
        }
        [[fallthrough]];
      default:
        builder.add_node({.type = "Concat",
                          .inputs = {first.id, second.id},
                          .outputs = {tensor(first.rows + second.rows)},
                          .attributes = {{"axis", std::int64_t{0}}}});
    }
  }
  std::vector<TensorId> outputs;
  for (const Made& one : made) {
    if (!one.is_input && random.chance(15)) outputs.push_back(one.id);
  }
  if (outputs.empty()) outputs.push_back(made.back().id);
  builder.set_outputs(std::move(outputs));
  Result<Graph> graph = std::move(builder).build();
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

}  // namespace lowtide::testing
