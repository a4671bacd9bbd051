// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/report/planners_page.h"

namespace lowtide {

// Three runs of at most 4,000 ns on a device with 3,000 B, and a curve of three points.
[[nodiscard]] PlannersPage small_planners();
// Names that try to start a tag, and no curve.
[[nodiscard]] PlannersPage hostile_planners();

}  // namespace lowtide
