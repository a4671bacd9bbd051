// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lowtide::report_internal {

struct ChartLine {
  std::string label;
  std::string css_class;                                      // of the line and its label
  std::vector<std::pair<std::int64_t, std::int64_t>> points;  // x ascends; >= 0
  bool is_step = false;  // y holds up to the next point; otherwise points have dots and straight lines between them
};

// A mark that stands for one thing, drawn after all lines.
struct ChartDot {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::string css_class;
  std::string label;      // shown by the browser beside the pointer
  std::string link;       // where a click leads, such as "#row-1"
  bool is_cross = false;  // otherwise a circle
  bool is_large = false;
};

struct LineChart {
  std::string title;  // for screen readers
  std::vector<ChartLine> lines;
  std::function<std::string(std::int64_t)> x_text = {};  // of a tick
  std::function<std::string(std::int64_t)> y_text = {};
  std::int64_t x_step_unit = 1;  // ticks are multiples of 1, 2 or 5 times a power of ten of these units
  std::int64_t y_step_unit = 1;
  // The left and the lower end. One above 0 has a break mark, because lengths do not show ratios then.
  std::int64_t least_x = 0;
  std::int64_t least_y = 0;
  // What the axes show, with the unit: "RAM (MiB)". Empty: each tick has its unit.
  std::string x_label = {};
  std::string y_label = {};
  std::vector<ChartDot> dots = {};
};

// The distance of ticks for a range of values: 1, 2 or 5 times a power of ten of these units, so that there are at most
// `most` ticks above the first. Requires: range >= 0, unit >= 1 and most >= 1.
[[nodiscard]] std::int64_t tick_step(std::int64_t range, std::int64_t unit, std::int64_t most = 8);

// Two SVG pictures, one 900 wide and one 360 wide with fewer ticks. The style shows the one that suits the screen. Of a
// line with more points than columns, each column shows the largest value. Text is escaped; the colors are those of the
// classes. O(points).
[[nodiscard]] std::string svg_of(const LineChart& chart);

}  // namespace lowtide::report_internal
