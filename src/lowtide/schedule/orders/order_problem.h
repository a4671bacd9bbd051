// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::schedule_internal {

// An ordering problem without its graph: nodes that must come after others, and values that take bytes from the first
// step that touches them to the last. A node is a step, or several that run one right after the other. The load of a
// step is what lives while it runs; an order is as good as its largest.
//
// Read backwards, with all edges turned, it is the same problem with the same answers: a value lives between its first
// and its last user in either direction. On layered graphs the search backwards often ends after a hundredth of the
// states.
//
//   a: writes x        values x {a, b, c}, y {b, c}        order a b c: x | x y | x y
//   b: reads x, writes y
//   c: reads x and y
struct OrderProblem {
  using Index = std::uint32_t;

  struct Step {
    std::vector<Index> values;  // touched; sorted, each once
    std::int64_t scratch = 0;
    // The kernel may write over some of what it reads, if that dies with it: as many bytes of the values in `born` that
    // begin here need not be there beside those in `dying` that end here. Both are among `values`.
    std::vector<Index> dying;
    std::vector<Index> born;
    Index origin = 0;    // node of the graph, or of the problem that this one was made from
    bool counts = true;  // no: its load is not looked at, which makes the problem easier than what it stands for
  };
  struct Node {
    std::vector<Index> before;  // nodes that must have run; sorted, each once
    std::vector<Step> steps;
  };
  struct Value {
    std::int64_t size = 0;
    std::uint32_t users = 0;      // steps that touch it; at least one
    bool is_there_first = false;  // lives from the start
    bool is_kept = false;         // lives to the end
  };

  std::vector<Node> nodes;  // in a topological order
  std::vector<Value> values;
  std::int64_t base = 0;  // bytes that live throughout and are in no value
};

// A lower bound made into a problem: for every order and every choice of aliases, the load of a graph is at least that
// of this problem at each step. Content is counted, not tensors (analysis/content.h): views and what they are views of
// are one value, of a slice or concat what it holds beside the others. Where a graph has none of these, it is the load
// itself, except for rules of in-place writes that it does not know.
// O(nodes + edges + holdings).
[[nodiscard]] OrderProblem order_problem(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options);

// How much slices, splits and concats share in the order that is looked for.
enum class Sharing : std::uint8_t {
  nothing,     // each part is a copy
  everything,  // parts lie in their whole, which lives as long as any of them
};

// What an order will cost if that is decided beforehand; whole views always share. Not a bound: for single tensors the
// other way may be cheaper. O(nodes + edges).
[[nodiscard]] OrderProblem order_problem(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options,
                                         Sharing sharing);

// The same problem read from its end.
[[nodiscard]] OrderProblem reversed(const OrderProblem& problem);

// Between two nodes that are each comparable with all others, whatever the order, the same nodes run: these parts are
// problems of their own. In sequence; `nodes[i]` is the node of the whole that node i of the part is.
struct OrderPart {
  OrderProblem problem;
  std::vector<OrderProblem::Index> nodes;
};
[[nodiscard]] std::vector<OrderPart> parts_of(const OrderProblem& problem);

}  // namespace lowtide::schedule_internal
