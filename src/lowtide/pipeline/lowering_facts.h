// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/origins.h"

namespace lowtide {

// The plan, on one stream, of a model without the rewrites for the kernels of this machine.
struct AsWritten {
  Bytes peak;
  Bytes arena;
};

// What lowering made of the nodes of a model, except those in bodies.
struct LoweringFacts {
  // Nodes of the model that run as one node.
  struct Rewrite {
    NodeId id;                      // in the graph that runs
    std::string node;               // node_name(); the name is that of the last node
    std::string op;                 // "lowtide::Chain", "Conv"
    std::vector<std::string> from;  // names; of a node without one: "Relu that writes y"
    std::int64_t in_epilogue = 0;   // the last ones of them, which a product computes on its results
    bool has_padding = false;       // the first of them is a Pad, whose zeros a convolution or a pool adds itself
  };
  std::int64_t left_out = 0;  // copies, and nodes that nothing needs
  std::int64_t at_load = 0;   // run once, when the model is loaded
  std::int64_t on_f32 = 0;    // write f16 in the model, and f32 in the run
  std::int64_t reorders = 0;  // added nodes that give a tensor another format
  Bytes reordered;            // what they write in a run
  std::vector<Rewrite> rewrites;
  std::optional<AsWritten> as_written;  // nullopt: the graph is too large for a second plan
};

// Compares the graph of a model with `lowered`, which runs instead, and `load`, which runs once. `origins` maps the ids
// of `lowered` to those of the model; nullptr: they are equal. Leaves out `as_written`. O(nodes + origins).
[[nodiscard]] LoweringFacts compare_lowered(const Graph& model, const Graph& lowered, const Graph& load,
                                            const Origins* origins);

}  // namespace lowtide
