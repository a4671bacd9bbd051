// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::report_internal {

// "1.25 ms"
[[nodiscard]] std::string time_text(std::int64_t picoseconds);

// One line with the estimated time and the arena of streams, waves or dataflow; empty if there are no points.
[[nodiscard]] StyledText streams_line(const std::vector<TradeOff>& points);

// A table of memory against estimated time: the plans on the Pareto front of their execution model, and the chosen
// plan.
[[nodiscard]] StyledText trade_offs_text(const std::vector<TradeOff>& points);

}  // namespace lowtide::report_internal
