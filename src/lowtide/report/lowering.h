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
#include "lowtide/report/styled_text.h"

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
    NodeId id;         // in the graph that runs
    std::string node;  // its name, which is that of the last node
    std::string op;    // "lowtide::Chain", "Conv"
    std::vector<std::string> from;
  };
  std::int64_t left_out = 0;  // copies, and nodes that nothing needs
  std::int64_t at_load = 0;   // run once, when the model is loaded
  std::int64_t reorders = 0;  // added nodes that give a tensor another format
  Bytes reordered;            // what they write in a run
  std::vector<Rewrite> rewrites;
  std::optional<AsWritten> as_written;  // nullopt: the graph is too large for a second plan
};

// A paragraph: how many nodes became what, and what the model needs as written.
[[nodiscard]] std::string lowering_text(const LoweringFacts& facts);

// A table of the nodes that run instead of several nodes of the model: those that replace most of them first, up to
// `rows`. Empty if there are none. If `wide`, all names are whole.
[[nodiscard]] StyledText rewrites_text(const LoweringFacts& facts, std::size_t rows, bool wide);

}  // namespace lowtide
