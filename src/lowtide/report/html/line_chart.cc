// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/html/line_chart.h"

#include <algorithm>
#include <cmath>

#include "lowtide/report/text/page_text.h"

namespace lowtide::report_internal {
namespace {

constexpr double kWidth = 900;
constexpr double kHeight = 300;
constexpr double kLeft = 80;
constexpr double kRight = 20;
constexpr double kTop = 14;
constexpr double kBottom = 34;
constexpr double kLabel = 18;  // more space for the label of an axis
constexpr std::int64_t kMostTicks = 8;

// With one decimal, so that the same chart has the same bytes on every machine.
std::string coordinate(double value) {
  const auto tenths = static_cast<std::int64_t>(std::llround(value * 10));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

class ChartDrawer {
 public:
  explicit ChartDrawer(const LineChart& chart)
      : chart_(chart),
        least_x_(chart.least_x),
        least_y_(chart.least_y),
        most_x_(chart.least_x + 1),
        most_y_(chart.least_y + 1),
        top_(chart.y_label.empty() ? kTop : kTop + kLabel),
        bottom_(kHeight - (chart.x_label.empty() ? kBottom : kBottom + kLabel)) {
    for (const ChartLine& line : chart.lines) {
      for (const auto& [x, y] : line.points) {
        most_x_ = std::max(most_x_, x);
        most_y_ = std::max(most_y_, y);
      }
    }
  }

  std::string draw() && {
    out_ = "<svg viewBox=\"0 0 900 300\" role=\"img\" aria-label=\"" + html_escaped(chart_.title) + "\">\n";
    draw_ticks();
    draw_labels();
    for (const ChartLine& line : chart_.lines) draw_line(line);
    for (const ChartDot& dot : chart_.dots) draw_dot(dot);
    return out_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double at_x(std::int64_t x) const {
    const double part = static_cast<double>(x - least_x_) / static_cast<double>(most_x_ - least_x_);
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double at_y(std::int64_t y) const {
    const double part = static_cast<double>(y - least_y_) / static_cast<double>(most_y_ - least_y_);
    return bottom_ - part * (bottom_ - top_);
  }

  void draw_ticks() {
    const std::int64_t x_step = tick_step(most_x_ - least_x_, chart_.x_step_unit);
    const std::string bottom = coordinate(bottom_);
    for (std::int64_t x = (least_x_ + x_step - 1) / x_step * x_step; x <= most_x_; x += x_step) {
      const std::string at = coordinate(at_x(x));
      out_ += "<path class=\"grid\" d=\"M" + at + " " + coordinate(top_) + "V" + bottom + "\"/>";
      out_ += "<text x=\"" + at + "\" y=\"" + coordinate(bottom_ + 18) + "\" text-anchor=\"middle\">" +
              html_escaped(chart_.x_text(x)) + "</text>\n";
    }
    const std::int64_t y_step = tick_step(most_y_ - least_y_, chart_.y_step_unit);
    for (std::int64_t y = (least_y_ + y_step - 1) / y_step * y_step; y <= most_y_; y += y_step) {
      const std::string at = coordinate(at_y(y));
      out_ += "<path class=\"grid\" d=\"M" + coordinate(kLeft) + " " + at + "H" + coordinate(kWidth - kRight) + "\"/>";
      out_ += "<text x=\"" + coordinate(kLeft - 6) + "\" y=\"" + coordinate(at_y(y) + 4) + "\" text-anchor=\"end\">" +
              html_escaped(chart_.y_text(y)) + "</text>\n";
    }
  }

  // Two slanted strokes across an axis that does not begin at 0.
  void draw_break(double x, double y, bool is_upright) {
    const double along = is_upright ? 0 : 4;
    const double across = is_upright ? 4 : 0;
    out_ += "<path class=\"break\" d=\"";
    for (const double shift : {0.0, 5.0}) {
      const double left = x + (is_upright ? 0 : shift);
      const double low = y - (is_upright ? shift : 0);
      out_ += "M" + coordinate(left - (is_upright ? 6 : 2)) + " " + coordinate(low + (is_upright ? 2 : 6)) + "l" +
              coordinate(is_upright ? 12 : along) + " -" + coordinate(is_upright ? across : 12);
    }
    out_ += "\"><title>The axis does not begin at 0.</title></path>\n";
  }

  void draw_labels() {
    if (!chart_.x_label.empty()) {
      out_ += "<text x=\"" + coordinate(kWidth - kRight) + "\" y=\"" + coordinate(bottom_ + 38) +
              "\" text-anchor=\"end\">" + html_escaped(chart_.x_label) + "</text>\n";
    }
    if (!chart_.y_label.empty()) {
      out_ += "<text x=\"" + coordinate(4) + "\" y=\"" + coordinate(kTop + 2) + "\">" + html_escaped(chart_.y_label) +
              "</text>\n";
    }
    if (chart_.least_x > 0) draw_break(kLeft + 12, bottom_, false);
    if (chart_.least_y > 0) draw_break(kLeft, bottom_ - 12, true);
  }

  void draw_dot(const ChartDot& dot) {
    out_ += "<a href=\"" + html_escaped(dot.link) + "\"><circle class=\"" + html_escaped(dot.css_class) + "\" cx=\"" +
            coordinate(at_x(dot.x)) + "\" cy=\"" + coordinate(at_y(dot.y)) + "\" r=\"5\"><title>" +
            html_escaped(dot.label) + "</title></circle></a>\n";
  }

  // The points that can be told apart: of those in one column, the largest and the last.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> thinned(const ChartLine& line) const {
    constexpr std::size_t kEnough = 2'000;
    if (line.points.size() <= kEnough) return line.points;
    std::vector<std::pair<std::int64_t, std::int64_t>> kept;
    for (std::size_t at = 0; at < line.points.size();) {
      const auto column = static_cast<std::int64_t>(at_x(line.points[at].first));
      std::size_t end = at;
      std::size_t largest = at;
      while (end < line.points.size() && static_cast<std::int64_t>(at_x(line.points[end].first)) == column) {
        if (line.points[end].second > line.points[largest].second) largest = end;
        ++end;
      }
      kept.push_back(line.points[largest]);
      if (largest + 1 < end) kept.push_back(line.points[end - 1]);
      at = end;
    }
    return kept;
  }

  void draw_line(const ChartLine& line) {
    if (line.points.empty()) return;
    const std::string name = html_escaped(line.css_class);
    std::string path;
    std::string dots;
    for (const auto& [x, y] : thinned(line)) {
      const std::string at = coordinate(at_x(x));
      const std::string height = coordinate(at_y(y));
      if (path.empty()) {
        path = "M" + at + " " + height;
      } else {
        path += line.is_step ? "H" + at + "V" + height : "L" + at + " " + height;
      }
      if (!line.is_step) dots += "<circle class=\"" + name + "\" cx=\"" + at + "\" cy=\"" + height + "\" r=\"3\"/>";
    }
    out_ += "<path class=\"line " + name + "\" d=\"" + path + "\"><title>" + html_escaped(line.label) +
            "</title></path>" + dots + "\n";
  }

  const LineChart& chart_;
  std::int64_t least_x_;
  std::int64_t least_y_;
  std::int64_t most_x_;
  std::int64_t most_y_;
  double top_;  // of the area of the lines
  double bottom_;
  std::string out_;
};

}  // namespace

std::int64_t tick_step(std::int64_t range, std::int64_t unit) {
  std::int64_t power = unit;
  while (true) {
    for (std::int64_t factor : {1, 2, 5}) {
      if (range / (power * factor) <= kMostTicks) return power * factor;
    }
    power *= 10;
  }
}

std::string svg_of(const LineChart& chart) { return ChartDrawer(chart).draw(); }

}  // namespace lowtide::report_internal
