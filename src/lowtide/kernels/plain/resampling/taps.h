// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide::kernels_internal {

enum class ResizeMode : std::uint8_t { nearest, linear, cubic };

// How a position of the result becomes a position of the operand (ONNX: coordinate_transformation_mode).
enum class Coordinates : std::uint8_t {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize
};

enum class NearestRounding : std::uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil };

struct ResizeRules {
  ResizeMode mode = ResizeMode::nearest;
  Coordinates coordinates = Coordinates::half_pixel;
  NearestRounding rounding = NearestRounding::round_prefer_floor;
  double cubic = -0.75;  // cubic_coeff_a
  bool excludes_outside = false;
  bool antialias = false;
};

// One axis that is resized.
struct ResizeAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  double scale = 1;  // as given; out / in differs where out was rounded
  double roi_begin = 0;
  double roi_end = 1;
};

// The elements of an axis that a position of the result is made from: weight[i] * operand[begin + i] for i < count.
struct Taps {
  std::int64_t* begins = nullptr;  // per position of the result; -1: outside of the region of interest
  float* weights = nullptr;        // `count` per position
  std::int64_t count = 1;          // <= extent of the operand
};

// The taps that an axis needs.
[[nodiscard]] std::int64_t taps_of(const ResizeRules& rules, std::int64_t in, double scale);

// Fills begins and weights. Requires: taps.count is taps_of(), in > 0, scale > 0. Positions outside of the operand take
// its first or last element.
void fill_taps(const ResizeRules& rules, const ResizeAxis& axis, const Taps& taps);

}  // namespace lowtide::kernels_internal
