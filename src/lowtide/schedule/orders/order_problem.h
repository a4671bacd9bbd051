// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/analysis/content.h"
#include "lowtide/graph/graph.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::schedule_internal {

// An ordering problem without its graph: nodes that must come after others, and values that occupy bytes from the first
// step that touches them to the last. A node is one step, or several that run one right after another. The load of a
// step is the live bytes while it runs. The peak of an order is the largest load of its steps.
//
// With all edges reversed, the reversed orders have the same peaks, because a value is live between its first and its
// last user in either direction. On layered graphs, a backward search often visits only a hundredth of the downsets.
//
//   a: writes x        values x {a, b, c}, y {b, c}        order a b c: x | x y | x y
//   b: reads x, writes y
//   c: reads x and y
struct OrderProblem {
  using Index = std::uint32_t;

  struct Step {
    std::vector<Index> values;  // touched; sorted, each once
    std::int64_t scratch = 0;
    // The kernel may write over operands that end here. So the load counts only the larger of two sums: the values in
    // `born` that begin here, and the values in `dying` that end here. Both are among `values`.
    std::vector<Index> dying;
    std::vector<Index> born;
    Index origin = 0;    // node of the graph, or of the problem that this one was made from
    bool counts = true;  // false: its load is ignored, which makes the problem easier than the original
  };
  struct Node {
    std::vector<Index> before;  // nodes that must have run; sorted, each once
    std::vector<Step> steps;
  };
  struct Value {
    std::int64_t size = 0;
    std::uint32_t users = 0;      // steps that touch it; 0 only if the size is 0
    bool is_there_first = false;  // live from the start
    bool is_kept = false;         // live to the end
  };

  std::vector<Node> nodes;  // in a topological order
  std::vector<Value> values;
  std::int64_t base = 0;  // bytes that are always live and in no value
};

// A relaxed problem: with every order and every choice of aliases, each step of the graph has at least the load that it
// has here. The problem counts content, not tensors (analysis/content.h). A view and its operand are one value. A slice
// or concat counts only the bytes that no other tensor holds. In a graph without slices, splits and concats, the
// loads are exact, except for some rules of results in place. O(nodes + edges + holders of pieces).
[[nodiscard]] OrderProblem order_problem(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options,
                                         const ContentLimits& limits = {});

// Whether slices, splits and concats share bytes in a problem.
enum class Sharing : std::uint8_t {
  nothing,     // each operand is a copy
  everything,  // operands and results are one value, which is live as long as any of them
};

// The problem with one choice for all slices, splits and concats. Whole views always share. Its loads are not bounds,
// because the other choice may be better for single tensors. O(nodes + edges).
[[nodiscard]] OrderProblem order_problem(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options,
                                         Sharing sharing);

// The same problem with size 0 for all values of fewer than `least` bytes. No load is higher than before, so its bounds
// hold for the problem, too.
[[nodiscard]] OrderProblem without_small_values(OrderProblem problem, std::int64_t least);

// The same problem with all edges reversed.
[[nodiscard]] OrderProblem reversed(const OrderProblem& problem);

// The nodes of a problem between two separators, which are nodes that are comparable with all others. Every order runs
// the same nodes there, so they are a problem of their own. `nodes[i]` is the number of node i of the subproblem in the
// whole problem.
struct OrderSubproblem {
  OrderProblem problem;
  std::vector<OrderProblem::Index> nodes;
};
// All subproblems, in sequence.
[[nodiscard]] std::vector<OrderSubproblem> subproblems_of(const OrderProblem& problem);

}  // namespace lowtide::schedule_internal
