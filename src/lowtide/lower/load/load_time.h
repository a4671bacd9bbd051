// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// A graph in two: what runs once, when the model is loaded, and what every run executes.
struct LoadTimeSplit {
  // The nodes that are left. The results of load-time work that they read are constants, under their own names. Bodies
  // are split as well. nullopt: the graph stays as it is.
  std::optional<Rewritten> run;
  // The load-time nodes of the graph and of all bodies. Its outputs are the results that `run` reads, and its constants
  // are those that these nodes read. A tensor of a body has the name that BodyNames gives it (graph/body_names.h),
  // unless another tensor has it. If no node is load-time work, the graph has no nodes.
  Graph load;
};

// Finds the load-time work of a graph: all pure nodes whose inputs are constants or results of load-time work. These
// nodes run in every run nevertheless: nodes with bodies, nodes that may give random results, nodes with a result whose
// size depends on data, and the producer of a next state (StateUpdate). A tensor whose content follows from the given
// sizes, such as that of a Shape, becomes a constant. Pure nodes and constants without uses are left out of `run`.
//
// `constants` is LowerOptions::constants: output k of `load` becomes constant `*constants + k` of `run`.
//
// Errors: those of GraphBuilder (over_limit). O((nodes + edges) log nodes) over all bodies. Recursion only over bodies.
[[nodiscard]] Result<LoadTimeSplit> split_load_time(const Graph& graph,
                                                    std::optional<std::uint32_t> constants = std::nullopt);

}  // namespace lowtide
