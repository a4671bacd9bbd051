// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/lower/load_time.h"

namespace lowtide::lower_internal {

// Moves the nodes lowtide::Pack and lowtide::Reorder that read a constant from the graph that runs to the load-time
// work of an earlier split_load_time(). An earlier result that only a moved node reads is replaced by the new result,
// under the same number. `constants` is the number that split_load_time() got. Bodies stay as they are.
//
// Errors: those of GraphBuilder. O((nodes + edges) log nodes).
[[nodiscard]] Result<LoadTimeSplit> split_more_load_time(const Graph& run, const Graph& load,
                                                         std::optional<std::uint32_t> constants);

}  // namespace lowtide::lower_internal
