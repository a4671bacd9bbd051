// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/allocate/problem/groups.h"
#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Refuses two buffers in conflict that share bytes because both are fixed, by themselves or with their groups.
// O((fixed buffers + gaps) log n), or O(pairs) if a relation replaces time.
[[nodiscard]] Result<void> validate_fixed_buffers(const PackingProblem& problem, const BufferGroups& groups);

}  // namespace lowtide::allocate_internal
