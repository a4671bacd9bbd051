// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/plan/machine.h"
#include "lowtide/plan/transfers.h"

namespace lowtide::pipeline_internal {

// A region that only links reach, and the links from the arena to it and back.
struct SwapRoute {
  RegionId outside;
  LinkId out;
  LinkId in;
};

// The first region that can hold what leaves the only region that kWorker writes. nullopt: there is none, or there are
// several regions for the arena.
[[nodiscard]] std::optional<SwapRoute> swap_route(const Machine& machine);

// Both links as one, for a search. `nanoseconds`: TransferLink::nanoseconds_per_cost.
//   - slower: no link takes longer. Sequences are planned with it.
//   - faster: no link takes less. Bounds are counted with it.
[[nodiscard]] TransferLink slower_link(const Machine& machine, const SwapRoute& route, std::int64_t nanoseconds);
[[nodiscard]] TransferLink faster_link(const Machine& machine, const SwapRoute& route, std::int64_t nanoseconds);

}  // namespace lowtide::pipeline_internal
