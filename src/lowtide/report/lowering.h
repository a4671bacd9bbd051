// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"

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
    std::string node;  // its name, which is that of the last node
    std::string op;    // "lowtide::Chain", "Conv"
    std::vector<std::string> from;
  };
  std::int64_t left_out = 0;  // copies, and nodes that nothing needs
  std::int64_t at_load = 0;   // run once, when the model is loaded
  std::vector<Rewrite> rewrites;
  std::optional<AsWritten> as_written;  // nullopt: the graph is too large for a second plan
};

// A paragraph: how many nodes became what, and what the model needs as written.
[[nodiscard]] std::string lowering_text(const LoweringFacts& facts);

}  // namespace lowtide
