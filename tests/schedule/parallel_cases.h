// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/schedule/schedule.h"
#include "lowtide/share/load.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

// A graph in its given order. A node has cost 10, unless `costs` (by node) states another cost.
struct Case {
  Graph graph;
  ChosenKernels kernels;
  Schedule sequential;
  IdVector<NodeId, std::int64_t> costs;
};

inline Case case_of(Graph graph, std::vector<std::int64_t> costs = {}) {
  Case made{.graph = std::move(graph)};
  made.kernels = dense_kernels(made.graph);
  made.sequential.order = given_order(made.graph);
  made.sequential.aliases = alias_classes(made.graph, made.kernels, made.sequential.order);
  made.sequential.load = largest(load_profile(made.sequential.aliases, made.kernels, made.sequential.order));
  costs.resize(made.graph.nodes().size(), 10);
  for (std::int64_t cost : costs) made.costs.push_back(cost);
  return made;
}

inline Case case_of(std::string_view text, std::vector<std::int64_t> costs = {}) {
  return case_of(graph_of(text), std::move(costs));
}

constexpr Bytes kNoCap{std::int64_t{1} << 60};

// Two branches of two nodes; each node's result is 10 bytes. In the given order, a branch ends before the next begins:
//   a | a c | c b | c b d | c d e      at most 3 x 10
constexpr const char* kBranches = R"(graph "g" {
  input x : u8[10]
  a = Conv(x) : u8[10]
  c = Conv(a) : u8[10]
  b = Conv(x) : u8[10]
  d = Conv(b) : u8[10]
  e = Conv(c, d) : u8[10]
  output e
})";

}  // namespace lowtide::testing
