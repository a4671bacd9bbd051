// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// An order whose load is at most `most`, found by the search on nodes that are renumbered at random by the seed. For
// callers that need more of an order than a low load, such as offsets without a gap. Returns nullopt if the work ends
// first, or if the order shares fewer bytes than the search assumes. Deterministic for a seed. O(nodes + edges) and
// `work` units of the search, about 1 ns each.
[[nodiscard]] std::optional<Schedule> other_order(const Graph& graph, const ChosenKernels& kernels,
                                                  const AliasOptions& aliases, Bytes most, std::uint64_t seed,
                                                  std::int64_t work);

}  // namespace lowtide
