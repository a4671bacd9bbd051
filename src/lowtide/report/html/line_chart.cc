// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/html/line_chart.h"

#include <algorithm>
#include <cmath>

#include "lowtide/report/text/page_text.h"

namespace lowtide::report_internal {
namespace {

// The size of a picture in its own units, which are about pixels.
struct ChartSize {
  const char* css_class;
  double width;
  double left;  // space for the numbers beside the y axis
  std::int64_t most_x_ticks;
};

constexpr ChartSize kWide = {.css_class = "wide", .width = 900, .left = 80, .most_x_ticks = 8};
constexpr ChartSize kNarrow = {.css_class = "narrow", .width = 360, .left = 56, .most_x_ticks = 4};
constexpr double kHeight = 300;
constexpr double kRight = 20;
constexpr double kTop = 14;
constexpr double kBottom = 34;
constexpr double kLabel = 18;  // more space for the label of an axis
constexpr double kHalfLetter = 3.2;
constexpr std::int64_t kMostYTicks = 8;

// With one decimal, so that the same chart has the same bytes on every machine.
std::string coordinate(double value) {
  const auto tenths = static_cast<std::int64_t>(std::llround(value * 10));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

class ChartDrawer {
 public:
  ChartDrawer(const LineChart& chart, const ChartSize& size)
      : chart_(chart),
        size_(size),
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
    for (const ChartDot& dot : chart.dots) {
      most_x_ = std::max(most_x_, dot.x);
      most_y_ = std::max(most_y_, dot.y);
    }
  }

  std::string draw() && {
    out_ = std::string("<svg class=\"") + size_.css_class + "\" viewBox=\"0 0 " +
           std::to_string(static_cast<int>(size_.width)) + " 300\" role=\"img\" aria-label=\"" +
           html_escaped(chart_.title) + "\">\n";
    draw_x_ticks();
    draw_y_ticks();
    out_ += "<path class=\"axis\" d=\"M" + coordinate(size_.left) + " " + coordinate(top_) + "V" + coordinate(bottom_) +
            "H" + coordinate(right()) + "\"/>\n";
    draw_labels();
    for (const ChartLine& line : chart_.lines) draw_line(line);
    for (const ChartDot& dot : chart_.dots) draw_dot(dot);
    return out_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double right() const { return size_.width - kRight; }
  [[nodiscard]] double at_x(std::int64_t x) const {
    const double part = static_cast<double>(x - least_x_) / static_cast<double>(most_x_ - least_x_);
    return size_.left + part * (right() - size_.left);
  }
  [[nodiscard]] double at_y(std::int64_t y) const {
    const double part = static_cast<double>(y - least_y_) / static_cast<double>(most_y_ - least_y_);
    return bottom_ - part * (bottom_ - top_);
  }

  // The text of the last tick ends where the picture does if it would be cut off otherwise.
  void draw_x_ticks() {
    const std::int64_t step = tick_step(most_x_ - least_x_, chart_.x_step_unit, size_.most_x_ticks);
    for (std::int64_t x = (least_x_ + step - 1) / step * step; x <= most_x_; x += step) {
      const std::string text = chart_.x_text(x);
      const bool is_cut = at_x(x) + kHalfLetter * static_cast<double>(text.size()) > size_.width;
      const std::string at = coordinate(at_x(x));
      out_ += "<path class=\"grid\" d=\"M" + at + " " + coordinate(top_) + "V" + coordinate(bottom_) + "\"/>";
      out_ += "<text x=\"" + (is_cut ? coordinate(size_.width) : at) + "\" y=\"" + coordinate(bottom_ + 18) +
              "\" text-anchor=\"" + (is_cut ? "end" : "middle") + "\">" + html_escaped(text) + "</text>\n";
    }
  }

  void draw_y_ticks() {
    const std::int64_t step = tick_step(most_y_ - least_y_, chart_.y_step_unit, kMostYTicks);
    for (std::int64_t y = (least_y_ + step - 1) / step * step; y <= most_y_; y += step) {
      const std::string at = coordinate(at_y(y));
      out_ += "<path class=\"grid\" d=\"M" + coordinate(size_.left) + " " + at + "H" + coordinate(right()) + "\"/>";
      out_ += "<text x=\"" + coordinate(size_.left - 6) + "\" y=\"" + coordinate(at_y(y) + 4) +
              "\" text-anchor=\"end\">" + html_escaped(chart_.y_text(y)) + "</text>\n";
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
      out_ += "<text x=\"" + coordinate(right()) + "\" y=\"" + coordinate(bottom_ + 38) + "\" text-anchor=\"end\">" +
              html_escaped(chart_.x_label) + "</text>\n";
    }
    if (!chart_.y_label.empty()) {
      out_ += "<text x=\"" + coordinate(4) + "\" y=\"" + coordinate(kTop + 2) + "\">" + html_escaped(chart_.y_label) +
              "</text>\n";
    }
    if (chart_.least_x > 0) draw_break(size_.left + 12, bottom_, false);
    if (chart_.least_y > 0) draw_break(size_.left, bottom_ - 12, true);
  }

  void draw_dot(const ChartDot& dot) {
    const double x = at_x(dot.x);
    const double y = at_y(dot.y);
    const std::string name = html_escaped(dot.css_class);
    const std::string cross = "M" + coordinate(x - 5) + " " + coordinate(y - 5) + "l10 10m0 -10l-10 10";
    const std::string title = "<title>" + html_escaped(dot.label) + "</title>";
    out_ += "<a href=\"" + html_escaped(dot.link) + "\">" +
            (dot.is_cross ? "<path class=\"cross " + name + "\" d=\"" + cross + "\">" + title + "</path>"
                          : "<circle class=\"" + name + "\" cx=\"" + coordinate(x) + "\" cy=\"" + coordinate(y) +
                                (dot.is_large ? "\" r=\"8\">" : "\" r=\"5\">") + title + "</circle>") +
            "</a>\n";
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
  const ChartSize& size_;
  std::int64_t least_x_;
  std::int64_t least_y_;
  std::int64_t most_x_;
  std::int64_t most_y_;
  double top_;  // of the area of the lines
  double bottom_;
  std::string out_;
};

}  // namespace

std::int64_t tick_step(std::int64_t range, std::int64_t unit, std::int64_t most) {
  std::int64_t power = unit;
  while (true) {
    for (std::int64_t factor : {1, 2, 5}) {
      if (range / (power * factor) <= most) return power * factor;
    }
    power *= 10;
  }
}

std::string svg_of(const LineChart& chart) {
  return ChartDrawer(chart, kWide).draw() + ChartDrawer(chart, kNarrow).draw();
}

}  // namespace lowtide::report_internal
