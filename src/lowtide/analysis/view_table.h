// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/analysis/views.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// One view of a node, and whether some plan can use it.
struct TableView : View {
  // Set for an operand of a concat that no plan can place in the result, because
  //   - it is an input, a constant or a state, whose bytes stay where they are, or
  //   - it is also an earlier operand of the same concat, and a tensor has one place, or
  //   - both it and the result are outputs of the graph, which share no bytes unless a plan copies one at the end.
  // Such an operand is copied into the result. The other operands of the concat may be placed there.
  bool must_copy = false;
  bool is_repeated = false;  // it also comes earlier in the same concat
};

// The views of every node of a graph, computed once. A node has views here only if some plan needs no kernel for it.
//
//   c = Concat(x, a) with an input x      views (x, c; must_copy) and (a, c)
//   r = Reshape(x) that is an output      none: r needs bytes of its own
//
// In the scope all_plans, a plan may copy a tensor to the place of an output at the end of the run. Until then, the
// output may have the bytes of any tensor that it is a view of, so in this scope r is a view of x.
class ViewTable {
 public:
  // The views that plans of this scope can use; chosen_kernels and run_once are the same. O(nodes + edges).
  ViewTable(const Graph& graph, const ChosenKernels& kernels, BoundScope scope = BoundScope::run_once);

  // The views of a node in the order of views_of(). Empty if its kernel runs in every plan. Valid while the table
  // exists.
  [[nodiscard]] std::span<const TableView> of(NodeId node) const {
    return {views_.data() + begin_[node.index()], views_.data() + begin_[node.index() + 1]};
  }
  // Whether the node has views that are slices, splits or concats, so a part covers only some bytes of the whole.
  [[nodiscard]] bool is_partial(NodeId node) const { return !of(node).empty() && is_partial_.test(node); }
  [[nodiscard]] bool is_concat(NodeId node) const { return !of(node).empty() && is_concat_.test(node); }

 private:
  std::vector<TableView> views_;      // of all nodes, in their order
  std::vector<std::uint32_t> begin_;  // index of the first view of each node; then the total
  Flags<NodeId> is_partial_;
  Flags<NodeId> is_concat_;
};

// Whether some plan that runs the node once runs no kernel for it. The results are then bytes of the operands, or of
// copies of the operands. O(rank + inputs + outputs).
[[nodiscard]] bool may_be_alias(const Graph& graph, NodeId node, const Kernel& kernel);

}  // namespace lowtide
