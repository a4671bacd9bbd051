// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::detail {

// What several streams gain and take, in a line. Nothing for points of a plan that was asked for on one stream (none).
[[nodiscard]] StyledText streams_line(const std::vector<StreamPoint>& points);

// Memory against estimated time: the points that no other beats, and the plan itself, by arena.
[[nodiscard]] StyledText streams_curve(const std::vector<StreamPoint>& points);

}  // namespace lowtide::detail
