// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/allocate/problem/named_conflicts.h"
#include "lowtide/allocate/problem/placements.h"
#include "lowtide/allocate/problem/stopping_rule.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// The answer to a caller: the placements, how good they are, and what proves the bound. `proof` is the bound that
// needed no search. If the stopping rule has a higher one, a search raised it.
[[nodiscard]] Packing answer_of(const Placements& placements, std::string_view strategy, const StructureBound& proof,
                                const StoppingRule& stopping);

}  // namespace lowtide::allocate_internal
