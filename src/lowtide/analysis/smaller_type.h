// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/analysis/remedies.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide::analysis_internal {

// Returns the peaks of a plan with smaller types, whether they are lower or not. Arguments and requirements as for
// model_remedies. O(steps + values + buffers) over all bodies.
[[nodiscard]] TypeRemedy with_smaller_types(const Plan& plan, const Labels& labels, std::optional<RegionId> region);

}  // namespace lowtide::analysis_internal
