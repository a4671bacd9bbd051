// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/html/chart_axis.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace lowtide::report_internal {
namespace {

std::int64_t begin_of_axis(const ChartRange& range, std::int64_t unit) {
  const std::int64_t width = range.most - range.least;
  if (width == 0 || range.least < width / 3) return 0;
  const std::int64_t step = tick_step(width, unit);
  return std::max<std::int64_t>(range.least - std::max(step, width / 10), 0) / step * step;
}

// A value in the unit of its axis, with at most six digits after the point: "1.25".
std::string tick_text(std::int64_t value, std::int64_t unit) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.6f", static_cast<double>(value) / static_cast<double>(unit));
  std::string shown = text.data();
  shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.back() == '.') shown.pop_back();
  return shown;
}

}  // namespace

void ChartRange::add(std::int64_t value) {
  least = has_any ? std::min(least, value) : value;
  most = has_any ? std::max(most, value) : value;
  has_any = true;
}

ChartAxis axis_of_bytes(const ChartRange& range) {
  const std::array<std::pair<std::int64_t, const char*>, 4> units = {
      {{std::int64_t{1} << 30, "GiB"}, {std::int64_t{1} << 20, "MiB"}, {std::int64_t{1} << 10, "KiB"}, {1, "B"}}};
  const auto fits = [&](const auto& unit) { return range.most - begin_of_axis(range, unit.first) >= 4 * unit.first; };
  const auto* const unit = std::find_if(units.begin(), units.end() - 1, fits);
  return {begin_of_axis(range, unit->first), unit->first, unit->second, unit->first};
}

ChartAxis axis_of_time(const ChartRange& range, std::int64_t second) {
  const std::array<std::pair<std::int64_t, const char*>, 3> units = {
      {{10 * second, "s"}, {second / 1000, "ms"}, {second / 1'000'000, "us"}}};
  const auto fits = [&](const auto& unit) { return range.most >= unit.first; };
  const auto* const unit = std::find_if(units.begin(), units.end() - 1, fits);
  return {begin_of_axis(range, 1), unit == units.begin() ? second : unit->first, unit->second};
}

ChartAxis whole_axis_of_bytes(std::int64_t most) { return axis_of_bytes({.least = 0, .most = most, .has_any = true}); }

ChartAxis whole_axis_of_time(std::int64_t most, std::int64_t second) {
  return axis_of_time({.least = 0, .most = most, .has_any = true}, second);
}

void set_x_axis(LineChart& chart, const ChartAxis& axis, const std::string& label) {
  chart.least_x = axis.least;
  chart.x_step_unit = axis.tick_unit;
  chart.x_label = label + " (" + axis.unit_name + ")";
  chart.x_text = [unit = axis.unit](std::int64_t value) { return tick_text(value, unit); };
}

void set_y_axis(LineChart& chart, const ChartAxis& axis, const std::string& label) {
  chart.least_y = axis.least;
  chart.y_step_unit = axis.tick_unit;
  chart.y_label = label + " (" + axis.unit_name + ")";
  chart.y_text = [unit = axis.unit](std::int64_t value) { return tick_text(value, unit); };
}

}  // namespace lowtide::report_internal
