// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// Sets of dropped outputs that are neighbors in the graph, with the cost of all of them, by union-find. A set is not
// divided when one of its outputs is made again: its cost only gets lower. So a set may be too large, and its cost is
// an estimate.
class Neighborhoods {
 public:
  using Index = RunProblem::Index;

  explicit Neighborhoods(std::size_t nodes) : vertex_(nodes, kNone) {}

  // Requires: the node is in no set.
  void add(Index node, std::int64_t cost) {
    vertex_[node] = static_cast<Index>(parent_.size());
    parent_.push_back(vertex_[node]);
    cost_.push_back(cost);
    own_.push_back(cost);
  }

  // Does nothing if the node is in no set.
  void remove(Index node) {
    if (vertex_[node] == kNone) return;
    cost_[find(vertex_[node])] -= own_[vertex_[node]];
    vertex_[node] = kNone;
  }

  // Does nothing if one of the two is in no set.
  void join(Index a, Index b) {
    if (vertex_[a] == kNone || vertex_[b] == kNone) return;
    const auto [low, high] = std::minmax({find(vertex_[a]), find(vertex_[b])});
    if (low == high) return;
    parent_[high] = low;
    cost_[low] += cost_[high];
  }

  // Names the set of a node, or returns nullopt if it is in none.
  std::optional<Index> root_of(Index node) {
    if (vertex_[node] == kNone) return std::nullopt;
    return find(vertex_[node]);
  }
  // The cost of its set. Requires: the node is in one.
  std::int64_t cost_around(Index node) { return cost_[find(vertex_[node])]; }

 private:
  static constexpr Index kNone = 0xFFFFFFFF;

  Index find(Index vertex) {
    while (parent_[vertex] != vertex) {
      parent_[vertex] = parent_[parent_[vertex]];
      vertex = parent_[vertex];
    }
    return vertex;
  }

  // A vertex per drop, because a node that is dropped again begins a set of its own.
  std::vector<Index> vertex_;  // by node
  std::vector<Index> parent_;
  std::vector<std::int64_t> cost_;  // by root: of all members that are still dropped
  std::vector<std::int64_t> own_;
};

}  // namespace lowtide::budget_internal
