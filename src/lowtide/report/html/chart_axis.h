// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/report/html/line_chart.h"

namespace lowtide::report_internal {

// The smallest and the largest of the values that an axis shows. Both are 0 if there are none.
struct ChartRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool has_any = false;

  void add(std::int64_t value);
};

// How an axis shows a range.
struct ChartAxis {
  std::int64_t least = 0;      // where the axis begins
  std::int64_t unit = 1;       // what `unit_name` is in bytes or in the time's own units
  std::string unit_name;       // "MiB"
  std::int64_t tick_unit = 1;  // ticks are at multiples of it
};

// An axis begins at 0 unless that leaves less than three quarters of it for the values. It also begins at 0 if there is
// only one value, because the digits that would tell this value from its neighbours say nothing. Requires: values >= 0.
[[nodiscard]] ChartAxis axis_of_bytes(const ChartRange& range);

// `second` is the number of the time's units in a second.
[[nodiscard]] ChartAxis axis_of_time(const ChartRange& range, std::int64_t second);

// The same axes, which always begin at 0.
[[nodiscard]] ChartAxis whole_axis_of_bytes(std::int64_t most);
[[nodiscard]] ChartAxis whole_axis_of_time(std::int64_t most, std::int64_t second);

// Gives a chart its axes. A label is that of the axis without the unit, such as "RAM".
void set_x_axis(LineChart& chart, const ChartAxis& axis, const std::string& label);
void set_y_axis(LineChart& chart, const ChartAxis& axis, const std::string& label);

}  // namespace lowtide::report_internal
