// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::testing {

// Which tensors share bytes, for one order: blocks of bytes, and the place of each tensor in them.
struct RandomPlaces {
  struct Block {
    BufferKind kind = BufferKind::temporary;
    bool is_given = false;  // an input, constant or state; only a state is ever written, by what replaces it
    std::int64_t size = 0;
    std::vector<TensorId> members;  // empty: merged into another block
  };
  std::vector<Block> blocks;
  IdVector<TensorId, std::size_t> block_of;
  IdVector<TensorId, std::int64_t> offset_of;
  IdVector<TensorId, std::uint32_t> written;       // step; 0 for what is given
  IdVector<TensorId, std::uint32_t> needed_until;  // last step that reads it; the number of steps if needed at the end
  std::vector<bool> is_alias;                      // by step
};

// Chooses aliases and in-place results at random, wherever they are sound. Often puts what replaces a state into its
// bytes.
[[nodiscard]] RandomPlaces random_places(const Graph& graph, const std::vector<NodeId>& order, Random& random);

}  // namespace lowtide::testing
