// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/lower/load/load_time.h"

namespace lowtide::lower_internal {

// Moves the nodes lowtide::Pack and lowtide::Reorder that read a constant from the graph that runs to the load-time
// work of an earlier split_load_time(). An earlier result that only a moved node reads is replaced by the new result,
// under the same number. `constants` is the number that split_load_time() got; with it, bodies that do the same work on
// one constant share the result. A node of a body stays if the names of its tensors would not tell them apart.
//
// Errors: those of GraphBuilder. O((nodes + edges) log nodes) over all bodies. Recursion only over bodies.
[[nodiscard]] Result<LoadTimeSplit> split_more_load_time(const Graph& run, const Graph& load,
                                                         std::optional<std::uint32_t> constants);

}  // namespace lowtide::lower_internal
