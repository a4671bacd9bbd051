// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

struct OtherOrderOptions {
  Bytes most;              // the highest load that the order may have
  std::uint64_t seed = 0;  // renumbers the nodes at random
  std::int64_t work = 0;   // units of the search, about 1 ns each
};

// Returns an order whose load is at most `most`, found by the search on nodes that are renumbered. It is for callers
// that need an order with another property in addition, such as offsets without fragmentation. Returns nullopt if the
// work ends first, or if the order shares fewer bytes than the search assumes. Deterministic for a seed. O(nodes +
// edges), and the work.
[[nodiscard]] std::optional<Schedule> other_order(const Graph& graph, const ChosenKernels& kernels,
                                                  const AliasOptions& aliases, const OtherOrderOptions& options);

}  // namespace lowtide
