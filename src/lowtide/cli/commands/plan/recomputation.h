// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/cli/output/json.h"
#include "lowtide/pipeline/recomputation.h"
#include "lowtide/plan/labels.h"

namespace lowtide::cli_internal {

// What was found about plans in which nodes run again; null if none was searched.
[[nodiscard]] Json json_of(const std::optional<Recomputation>& found, const Labels& labels);

}  // namespace lowtide::cli_internal
