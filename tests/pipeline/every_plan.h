// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lowtide/target/target.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

struct EveryPlan {
  bool is_complete = false;  // off: there were too many states, and nothing is known
  // Picoseconds of target/cost.h; copies, transfers and views take none. nullopt: no plan.
  std::optional<std::int64_t> least_time;
};

// Tries every plan of a small graph on one stream: every sequence of runs, offset and kernel, results in place, views
// and copies. It knows no buffers, lifespans or sharing. The arena is a row of bytes. Each byte holds one byte of a
// tensor or nothing that is useful, and a tensor exists wherever all of its bytes are in a row.
//
//   x -> a(2) -> b(1)   in 3 bytes:  . . .   a0 a1 .   a0 a1 b0       in 2 bytes, b over a:  . .   a0 a1   b0 .
//
// Tensors have one axis of elements of one byte. Views are Identity, Reshape, Slice with attributes, Split and Concat.
// Extra copies are tried for graphs of up to 4 nodes only.
// `has_link`: what a step has written or made a view of can come back at any time, because it may have left before.
// Requires: at most 9 bytes of capacity, 9 nodes, and 63 bytes of inputs and results of kernels. With an alignment
// above 1, there is no Slice, Split or Concat.
[[nodiscard]] EveryPlan try_every_plan(const Graph& graph, const Target& target, std::size_t capacity,
                                       std::size_t most_states, bool has_link = false);

}  // namespace lowtide::testing
