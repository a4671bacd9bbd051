// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/resampling/taps.h"

#include <algorithm>
#include <cmath>

namespace lowtide::kernels_internal {
namespace {

// The position in the operand, of which only the fraction and the integer part below are used.
double source_position(const ResizeRules& rules, const ResizeAxis& axis, std::int64_t at) {
  const auto x = static_cast<double>(at);
  const auto in = static_cast<double>(axis.in);
  const double out = axis.scale * in;
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  switch (rules.coordinates) {
    case Coordinates::align_corners: return out == 1 ? 0 : x * (in - 1) / (out - 1);
    case Coordinates::asymmetric: return x / axis.scale;
    case Coordinates::tf_half_pixel_for_nn: return (x + 0.5) / axis.scale;
    case Coordinates::pytorch_half_pixel: return out == 1 ? -0.5 : half_pixel;
    case Coordinates::half_pixel_symmetric: {
      const double adjustment = static_cast<double>(axis.out) / out;
      return in / 2 * (1 - adjustment) + half_pixel;
    }
    case Coordinates::tf_crop_and_resize: {
      const double length = (axis.roi_end - axis.roi_begin) * (in - 1);
      return axis.roi_begin * (in - 1) + (out == 1 ? length / 2 : x * length / (out - 1));
    }
    default: return half_pixel;
  }
}

// The first tap is at `base` + first_tap, where base is the largest integer below the position.
std::int64_t first_tap(const ResizeRules& rules, double scale) {
  if (rules.mode == ResizeMode::nearest) return 0;
  const double support = rules.mode == ResizeMode::linear ? 1 : 2;
  const double width = rules.antialias ? support / std::min(scale, 1.0) : support;
  return static_cast<std::int64_t>(std::floor(-width)) + 1;
}

std::int64_t span_of_taps(const ResizeRules& rules, double scale) {
  return rules.mode == ResizeMode::nearest ? 2 : 2 - 2 * first_tap(rules, scale);
}

double cubic_weight(double a, double distance) {
  const double x = std::fabs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The weight of the element at base + tap, for a position at base + ratio with ratio in (0, 1].
double weight_of(const ResizeRules& rules, double scale, std::int64_t tap, double ratio) {
  const double stretch = rules.antialias ? std::min(scale, 1.0) : 1;
  const double distance = (static_cast<double>(tap) - ratio) * stretch;
  if (rules.mode == ResizeMode::linear) return std::max(1 - std::fabs(distance), 0.0);
  if (rules.mode == ResizeMode::cubic) return cubic_weight(rules.cubic, distance);
  const auto takes_second = [&] {
    if (ratio == 1) return true;
    switch (rules.rounding) {
      case NearestRounding::floor: return false;
      case NearestRounding::ceil: return true;
      case NearestRounding::round_prefer_ceil: return ratio >= 0.5;
      default: return ratio > 0.5;
    }
  };
  return (tap == 1) == takes_second() ? 1 : 0;
}

// Finds the elements of one position, and adds the weights of taps outside of the operand to its first or last element.
void fill_position(const ResizeRules& rules, const ResizeAxis& axis, double position, const Taps& taps,
                   std::int64_t at) {
  // Far from the operand all positions are alike, and a clamped one fits an integer.
  const auto span = span_of_taps(rules, axis.scale);
  const double limit = 2 * static_cast<double>(span) + 2;
  const double clamped = std::clamp(position, -limit, static_cast<double>(axis.in) + limit);
  const auto base = static_cast<std::int64_t>(std::ceil(clamped)) - 1;
  const double ratio = clamped - static_cast<double>(base);
  const std::int64_t first = first_tap(rules, axis.scale);
  const auto weight = [&](std::int64_t tap) {
    const bool is_outside = base + tap < 0 || base + tap >= axis.in;
    return is_outside && rules.excludes_outside ? 0 : weight_of(rules, axis.scale, tap, ratio);
  };
  double sum = 0;
  for (std::int64_t tap = first; tap < first + span; ++tap) sum += weight(tap);
  const double divisor = (rules.antialias || rules.excludes_outside) && sum != 0 ? sum : 1;
  const bool is_second = rules.mode == ResizeMode::nearest && weight_of(rules, axis.scale, 1, ratio) == 1;
  const std::int64_t begin = std::clamp<std::int64_t>(base + first + (is_second ? 1 : 0), 0, axis.in - taps.count);
  float* weights = taps.weights + at * taps.count;
  std::fill_n(weights, taps.count, 0.0F);
  for (std::int64_t tap = first; tap < first + span; ++tap) {
    const std::int64_t element = std::clamp<std::int64_t>(base + tap, begin, begin + taps.count - 1);
    weights[element - begin] += static_cast<float>(weight(tap) / divisor);
  }
  taps.begins[at] = begin;
}

}  // namespace

std::int64_t taps_of(const ResizeRules& rules, std::int64_t in, double scale) {
  return rules.mode == ResizeMode::nearest ? 1 : std::min(span_of_taps(rules, scale), in);
}

void fill_taps(const ResizeRules& rules, const ResizeAxis& axis, const Taps& taps) {
  for (std::int64_t at = 0; at < axis.out; ++at) {
    const double position = source_position(rules, axis, at);
    fill_position(rules, axis, position, taps, at);
    const bool is_outside = rules.coordinates == Coordinates::tf_crop_and_resize &&
                            (position < 0 || position > static_cast<double>(axis.in - 1));
    if (is_outside) taps.begins[at] = -1;
  }
}

}  // namespace lowtide::kernels_internal
