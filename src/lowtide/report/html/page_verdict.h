// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/json_writer.h"
#include "lowtide/report/page.h"
#include "lowtide/report/summary.h"

namespace lowtide::report_internal {

// Adds members to the facts of a sheet:
//   verdict      if there is a limit: {limit, is_budget, counts_weights, counted, fits, shortfall, is_proven, words}
//                fits: null if it is not known; is_proven: that no plan fits; words: [paragraph]
//   proven       [paragraph]   without a limit: what is proven for the arena
//   recomputed   if nodes run again or tensors move: {base, picoseconds, bound, bound_kind, stall, words}, in
//                picoseconds; words: a sentence
void add_verdict(JsonWriter& json, const NamedPlan& shown, const PlanVerdict& verdict);

}  // namespace lowtide::report_internal
