// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::report_internal {

// What streams, waves or dataflow gain and take, in a line. Nothing for points of a plan that was asked for as a
// sequence (none).
[[nodiscard]] StyledText streams_line(const std::vector<TradeOff>& points);

// Memory against estimated time: the points that no other of their form beats, and the plan itself, by form and arena.
[[nodiscard]] StyledText streams_curve(const std::vector<TradeOff>& points);

}  // namespace lowtide::report_internal
