// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// An order of a load of at most `most`, as the search finds it when the nodes come to it in another order, drawn by the
// seed: for callers who want more than a low load of an order, such as offsets that fit without a gap. Nothing where
// the work ends first, or the order shares less than the search hoped for. Deterministic for a seed. O(nodes + edges),
// and the work (OrderSearchOptions::work).
[[nodiscard]] std::optional<Schedule> other_order(const Graph& graph, const ChosenKernels& kernels,
                                                  const AliasOptions& aliases, Bytes most, std::uint64_t seed,
                                                  std::int64_t work);

}  // namespace lowtide
