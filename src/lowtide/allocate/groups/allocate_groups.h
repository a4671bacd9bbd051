// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "lowtide/allocate/allocate.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// Solves a valid problem without groups, as `allocate` does.
using AllocateBuffers = std::function<Packing(const PackingProblem& problem, const AllocateOptions& options)>;

// A problem with groups: as blocks (group_forms.h), with all strategies; where a block may be more than its members
// need, an exact search over the members as they are (pair_order_search.h) takes turns with that, lowers the answer and
// proves it. The bound is that of the pieces, so what a block wastes is never part of it.
// Require: `problem` is valid.
[[nodiscard]] Packing allocate_groups(const PackingProblem& problem, const AllocateOptions& options,
                                      const AllocateBuffers& allocate_buffers);

}  // namespace lowtide
