// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/lower/options.h"
#include "lowtide/lower/passes.h"

namespace lowtide::lower_internal {

// Does what lower() does, with the passes of any table. They run in the order of its rows. Errors: those of lower() and
// of the passes.
[[nodiscard]] Result<Lowered> run_passes(std::span<const Pass> table, const Graph& graph, const LowerOptions& options);

}  // namespace lowtide::lower_internal
