// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

// The extents of a Resize.
namespace lowtide::kernels_internal {

// No tensor has an extent that is larger, and a f64 is exact up to it.
inline constexpr double kMostResized = 1e12;

// The extent times the scale, rounded down. nullopt: the scale is not positive, or too large.
[[nodiscard]] inline std::optional<std::int64_t> scaled_extent(std::int64_t extent, double scale) {
  const double scaled = static_cast<double>(extent) * scale;
  return scale > 0 && scaled < kMostResized ? std::optional(static_cast<std::int64_t>(scaled)) : std::nullopt;
}

// The scale that gives an extent this size. nullopt: none does.
[[nodiscard]] inline std::optional<double> scale_to(std::int64_t extent, std::int64_t size) {
  if (size < 0 || (extent == 0 && size != 0)) return std::nullopt;
  return extent == 0 ? 1 : static_cast<double>(size) / static_cast<double>(extent);
}

enum class AspectRatio : std::uint8_t { stretch, not_larger, not_smaller };

// One scale for all axes of an image that keeps its aspect ratio.
class CommonScale {
 public:
  explicit CommonScale(AspectRatio aspect) : is_least_(aspect == AspectRatio::not_larger) {}

  void add(double scale) { scale_ = scale_ ? is_least_ ? std::min(*scale_, scale) : std::max(*scale_, scale) : scale; }
  [[nodiscard]] double scale() const { return scale_.value_or(1); }
  // The nearest extent. nullopt: it is too large.
  [[nodiscard]] std::optional<std::int64_t> extent(std::int64_t of) const {
    const double scaled = scale() * static_cast<double>(of);
    return scaled < kMostResized ? std::optional<std::int64_t>(std::llround(scaled)) : std::nullopt;
  }

 private:
  bool is_least_;
  std::optional<double> scale_;
};

}  // namespace lowtide::kernels_internal
