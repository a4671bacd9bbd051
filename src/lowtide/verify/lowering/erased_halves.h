// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Whether a graph or one of its bodies has a tensor of type f16. O(tensors). Recursion only over bodies.
[[nodiscard]] bool has_halves(const Graph& graph);

// A model and the graphs that were made from it, without the difference between f16 and f32.
struct ErasedHalves {
  Graph model;
  Graph lowered;
  Graph load;
};

// Undoes what lower/model/widen_halves.h does, so that all other rules hold for what is left. Each f16 tensor becomes
// f32. A tensor "t (f32)" beside an f16 tensor "t" of the model becomes "t", and a Cast between the two is left out. If
// "t" is a constant, both stay, and the model gets the Cast between them. Rounding to f16 may be left out or added, so
// it is not compared. Programs of chains, and bodies, are treated in the same way.
//
// Errors: those of GraphBuilder, and of chain_graph. O((nodes + edges) log nodes). Recursion only over bodies.
[[nodiscard]] Result<ErasedHalves> without_halves(const Graph& model, const Graph& lowered, const Graph& load);

}  // namespace lowtide::verify_internal
