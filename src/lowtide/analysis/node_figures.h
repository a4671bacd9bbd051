// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/target/target.h"

namespace lowtide {

// The body whose nodes a row belongs to.
struct OuterNode {
  std::size_t row = 0;       // of the node that runs the body
  std::size_t position = 0;  // in Node::bodies
};

// What one run of a node reads, writes and computes, at dense sizes. A node with bodies counts its inputs and outputs
// alone, because the nodes of its bodies have rows of their own.
struct NodeFigures {
  const Graph* graph = nullptr;  // the graph, or a body inside it
  NodeId node;                   // its step in the order of `graph`, from 0
  std::optional<OuterNode> outer;
  int depth = 0;                     // 0 for nodes of the graph, 1 for those of its bodies
  Bytes read;                        // inputs that are not constants, each once
  Bytes written;                     // outputs
  Bytes constants;                   // inputs that are constants, each once
  std::optional<Bytes> scratch;      // of the first kernel of the target; nullopt: not known
  std::optional<std::int64_t> macs;  // multiply_accumulates; nullopt: not known
};

// A sum of figures, some of which may be unknown.
struct FigureSum {
  std::int64_t sum = 0;
  std::int64_t left_out = 0;  // figures that are unknown, or that would raise the sum above 2^63 - 1
  void add(std::optional<std::int64_t> figure);
};

// The sums over several nodes. The nodes of a body count once, because the number of its runs is not known. All
// branches of an If count.
struct FigureTotals {
  std::int64_t nodes = 0;
  FigureSum read;
  FigureSum written;
  FigureSum macs;
  Bytes constants;  // each constant once, however many nodes read it
  Bytes scratch;    // the largest that is known, because scratch of different nodes shares bytes
};

struct OperatorTotals {
  std::string op;  // "Conv", or "domain::Type"
  FigureTotals totals;
};

// The figures of all nodes of a graph and of its bodies.
struct GraphFigures {
  std::vector<NodeFigures> nodes;         // in the order of the graph; those of bodies follow the node that runs them
  std::vector<OperatorTotals> operators;  // sorted by name
  FigureTotals totals;
};

// Requires: `graph` outlives the result. O(n log n) for n nodes, inputs and outputs, including those of bodies.
[[nodiscard]] GraphFigures graph_figures(const Graph& graph, const Target& target);

}  // namespace lowtide
