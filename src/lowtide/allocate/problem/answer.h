// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/allocate/problem/placements.h"
#include "lowtide/allocate/problem/stopping_rule.h"
#include "lowtide/allocate/problem/structure_bound.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// The answer to a caller: the placements, the bound, and what proves it. `proof` is the bound that needed no search. If
// the bound of the stopping rule is higher, a search raised it.
[[nodiscard]] Packing answer_of(const Placements& placements, std::string_view strategy, const StructureBound& proof,
                                const StoppingRule& stopping);

}  // namespace lowtide::allocate_internal
