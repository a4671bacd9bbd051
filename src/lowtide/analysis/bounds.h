// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/analysis/content.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// A proven lower bound of the arena of every plan that runs each node of a graph once, over all orders and all choices
// of aliases (BoundScope::run_once). A working-set bound may be for all plans instead.
struct LoadBound {
  Bytes bytes;
  std::string_view name;       // "live_set" or "working_set"; "none" for a graph without nodes
  std::optional<NodeId> node;  // the node that has the bound; nullopt: the end of the run
  bool is_complete = true;     // false if the effort ended before every node was examined
};

struct BoundOptions {
  Bytes alignment = Bytes(1);
  bool inputs_live_throughout = false;
  std::int64_t effort = 60'000'000;  // nodes and edges visited; a visit covers 64 live sets and takes about 10 ns
  ContentLimits content = {};
};

// Returns the live-set bound ("live_set"). Some tensors are live while a node v runs, whatever the order. Their
// producer is v or must run before v. They are also outputs, or have a reader that is v or must run after v. Kayaaslan
// et al. 2018 call them the live set of a node. The sum of their sizes is a bound. The result is the largest of these
// sums and of the sum at the end of the run, when all outputs are live. If the effort does not suffice for all nodes,
// those with the highest load in `order` come first. The others count only what they read and write, so the result is
// still a bound.
//
// Requires: every plan needs the scratch of `kernels`. For a node with bodies, that is the bound of the largest body.
// The arena of a plan of that body could be too large, because another order of the body may need less.
//
// The bound must not exceed the peak of a plan that shares bytes. Therefore it counts content, not tensors
// (analysis/content.h): a view counts only the bytes that are not counted already. An output of v counts only if v
// cannot write it over an input that may die there. Sizes are rounded up to the alignment only if no slice, split or
// concat can put two tensors into one buffer.
// O(effort). The ancestors of 64 nodes at a time are kept as bits, so no table is quadratic.
[[nodiscard]] LoadBound live_set_bound(const Graph& graph, const ChosenKernels& kernels,
                                       const std::vector<NodeId>& order, const std::vector<Bytes>& profile,
                                       const BoundOptions& options = {});

// The tensors that this bound counts at one node. Each of them is live while the node runs, whatever the order.
struct LiveSet {
  struct Member {
    TensorId tensor;
    Bytes bytes;  // > 0; bytes that two tensors share count for one of them
  };
  std::vector<Member> tensors;  // the largest first, equals by id
  Bytes scratch;                // of the node
  Bytes bytes;                  // the sum, rounded up to the alignment, as in live_set_bound
};

// `node`: nullopt means the end of the run. O(nodes + edges + holders of pieces).
[[nodiscard]] LiveSet live_set(const Graph& graph, const ChosenKernels& kernels, std::optional<NodeId> node,
                               const BoundOptions& options = {});

// Returns the working-set bound ("working_set"), which is the weakest bound and the easiest to check. It is the
// largest sum of what one node reads, writes and needs as scratch, counted by the same rules. O(nodes + edges +
// holders of pieces).
//
// `scope`: the plans that need these bytes. In the scope all_plans, an output may be copied to its place at the end of
// the run, so before that it counts as any other tensor:
//
//   x = Conv(i), y = Reshape(x), z = Gemm(x, y), all outputs
//   run_once     at the Gemm: x, y and z      two outputs never share bytes
//   all_plans    at the Gemm: x and z         y may be the bytes of x until the end
[[nodiscard]] LoadBound working_set_bound(const Graph& graph, const ChosenKernels& kernels, BoundScope scope,
                                          const BoundOptions& options = {});

}  // namespace lowtide
