// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/machine.h"

namespace lowtide {

// The weights of a model in the region that holds its constants (Machine::constants). They are counted, not placed:
// a loader may put them anywhere in the region, each at a multiple of the alignment. If the region also holds an arena,
// the weights begin after it, at the next multiple of the alignment.
struct Weights {
  RegionId id;
  Region region;  // as the machine states it
  Bytes bytes;    // that they occupy; no loader needs fewer

  // By how many bytes the weights alone exceed the capacity.
  [[nodiscard]] Bytes excess() const;
  // What they leave of the capacity; nullopt if the region has none.
  [[nodiscard]] std::optional<Bytes> left() const;
};

// Counts the constants of the graph and of its bodies, each tensor once. All occupy their size rounded up to the
// alignment, except the one with the most padding, which is last and ends without it. nullopt if the machine does not
// state where constants are. O(tensors), including those of bodies. Recursion only over bodies.
[[nodiscard]] std::optional<Weights> weights_of(const Graph& graph, const Machine& machine);

}  // namespace lowtide
