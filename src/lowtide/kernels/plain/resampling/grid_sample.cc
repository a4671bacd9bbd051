// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/resampling/grid_sample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/windows/sliding_window.h"

namespace lowtide::kernels_internal {
namespace {

enum class Interpolation : std::uint8_t { nearest, linear, cubic };
enum class Outside : std::uint8_t { zeros, border, reflection };

struct GridParameters {
  Interpolation interpolation = Interpolation::linear;
  Outside outside = Outside::zeros;
  bool aligns_corners = false;
};

// Mirrors a position at both ends of a range until it lies within.
float reflected(float position, float low, float high) {
  const float range = high - low;
  if (position >= low && position <= high) return position;
  if (!(range > 0)) return low;
  const float beyond = position < low ? low - position : position - high;
  const float turns = std::floor(beyond / range);
  const float rest = beyond - turns * range;
  const bool is_even = std::fmod(turns, 2.0F) == 0.0F;
  return (position < low) == is_even ? low + rest : high - rest;
}

// What one axis contributes to a sample: up to four elements and their weights.
struct AxisTaps {
  std::array<std::int64_t, 4> at{};  // -1: an element outside, which is 0
  std::array<float, 4> weight{1, 0, 0, 0};
  int count = 1;
};

// Cubic convolution with a = -0.75 (Keys, Cubic Convolution Interpolation for Digital Image Processing, 1981).
std::array<float, 4> cubic_weights(float x) {
  constexpr float kA = -0.75F;
  const auto far = [](float d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  const auto near = [](float d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  return {far(x + 1), near(x), near(1 - x), far(2 - x)};
}

// One spatial axis of the sampled tensor.
struct SampledAxis {
  const GridParameters& parameters;
  std::int64_t extent = 1;

  [[nodiscard]] float low() const { return parameters.aligns_corners ? 0.0F : -0.5F; }
  [[nodiscard]] float high() const { return static_cast<float>(extent) - (parameters.aligns_corners ? 1.0F : 0.5F); }
  // The position of a number from -1 to 1. NaN counts as -1, and positions far away are moved closer, so that they fit
  // an integer.
  [[nodiscard]] float position(float number) const {
    const float wide = static_cast<float>(extent);
    const float at = parameters.aligns_corners ? (number + 1) / 2 * (wide - 1) : ((number + 1) * wide - 1) / 2;
    constexpr float kFar = 1e8F;
    return std::isnan(at) ? low() : std::clamp(at, -kFar, kFar);
  }
  [[nodiscard]] std::int64_t element(std::int64_t at) const {
    if (at >= 0 && at < extent) return at;
    if (parameters.outside == Outside::zeros) return -1;
    if (parameters.outside == Outside::reflection)
      at = static_cast<std::int64_t>(reflected(static_cast<float>(at), low(), high()));
    return std::clamp<std::int64_t>(at, 0, extent - 1);
  }
  [[nodiscard]] AxisTaps taps(float number) const {
    const bool is_nearest = parameters.interpolation == Interpolation::nearest;
    float at = position(number);
    if (is_nearest) at = std::nearbyint(at);
    if (at < low() || at > high()) {
      if (parameters.outside == Outside::border) at = std::clamp(at, 0.0F, static_cast<float>(extent - 1));
      if (parameters.outside == Outside::reflection) at = reflected(at, low(), high());
    }
    AxisTaps taps;
    const float whole = is_nearest ? at : std::floor(at);
    const auto first = static_cast<std::int64_t>(whole);
    if (is_nearest) {
      taps.at[0] = element(first);
    } else if (parameters.interpolation == Interpolation::linear) {
      taps = {{element(first), element(first + 1)}, {1 - (at - whole), at - whole}, 2};
    } else {
      taps = {
          {element(first - 1), element(first), element(first + 1), element(first + 2)}, cubic_weights(at - whole), 4};
    }
    return taps;
  }
};

using Sample = std::array<AxisTaps, kMostSpatial>;

float value_at(const Sample& sample, const std::array<std::int64_t, kMostSpatial>& extents, const float* plane) {
  float sum = 0;
  for (int d = 0; d < sample[0].count; ++d) {
    for (int h = 0; h < sample[1].count; ++h) {
      for (int w = 0; w < sample[2].count; ++w) {
        const auto [i, j, k] =
            std::array{static_cast<std::size_t>(d), static_cast<std::size_t>(h), static_cast<std::size_t>(w)};
        const bool is_inside = sample[0].at[i] >= 0 && sample[1].at[j] >= 0 && sample[2].at[k] >= 0;
        if (!is_inside) continue;
        const std::int64_t at = (sample[0].at[i] * extents[1] + sample[1].at[j]) * extents[2] + sample[2].at[k];
        sum += sample[0].weight[i] * sample[1].weight[j] * sample[2].weight[k] * plane[at];
      }
    }
  }
  return sum;
}

RunStatus run_grid_sample(const GridParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents grid(extents_of(operands.reads[1]));
  const int spatial = from.rank() - 2;
  const bool agrees = spatial >= 1 && spatial <= static_cast<int>(kMostSpatial) && grid.rank() == from.rank() &&
                      grid[0] == from[0] && grid[grid.rank() - 1] == spatial;
  if (!agrees) return {RunCode::bad_extents, 1};
  Extents to{from[0], from[1]};
  for (int axis = 1; axis <= spatial; ++axis) to.push_back(grid[axis]);
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  if (to.count() > 0 && from.product(2, from.rank()) == 0) return {RunCode::bad_extents, 0};
  std::array<std::int64_t, kMostSpatial> extents{1, 1, 1};
  const auto first = kMostSpatial - static_cast<std::size_t>(spatial);
  for (int axis = 0; axis < spatial; ++axis) extents[first + static_cast<std::size_t>(axis)] = from[2 + axis];
  const std::int64_t points = to.product(2, to.rank());
  const std::int64_t plane = from.product(2, from.rank());
  for (std::int64_t batch = 0; batch < from[0]; ++batch) {
    for (std::int64_t point = 0; point < points; ++point) {
      const float* numbers = elements<float>(operands.reads[1]) + (batch * points + point) * spatial;
      Sample sample{};
      for (int axis = 0; axis < spatial; ++axis) {
        const auto at = first + static_cast<std::size_t>(axis);
        sample[at] = SampledAxis{parameters, extents[at]}.taps(numbers[spatial - 1 - axis]);  // the last axis is first
      }
      for (std::int64_t channel = 0; channel < from[1]; ++channel) {
        const std::int64_t number = batch * from[1] + channel;
        mutable_elements<float>(operands.writes[0])[number * points + point] =
            value_at(sample, extents, elements<float>(operands.reads[0]) + number * plane);
      }
    }
  }
  return {};
}

// The position of an element of an axis, from -1 to 1.
float centered(std::int64_t at, std::int64_t extent, bool aligns_corners) {
  const auto wide = static_cast<float>(extent);
  if (aligns_corners) return extent == 1 ? -1.0F : -1.0F + 2.0F * static_cast<float>(at) / (wide - 1);
  return (2.0F * static_cast<float>(at) + 1) / wide - 1;
}

// theta [N, axes, axes + 1]; the result [N, spatial extents, axes] has x before y before z.
RunStatus run_affine_grid(const GridParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents theta(extents_of(operands.reads[0]));
  const std::optional<Extents> size = integers_of(operands.reads[1]);
  const int axes = theta.rank() == 3 ? static_cast<int>(std::clamp<std::int64_t>(theta[1], 0, 4)) : 0;
  if (!size || (axes != 2 && axes != 3) || theta[2] != axes + 1 || size->rank() != axes + 2)
    return {RunCode::bad_extents, 1};
  Extents to{theta[0]};
  for (int axis = 0; axis < axes; ++axis) to.push_back((*size)[2 + axis]);
  to.push_back(axes);
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  auto* out = mutable_elements<float>(operands.writes[0]);
  const std::int64_t points = to.product(1, axes + 1);
  for (std::int64_t batch = 0; batch < theta[0]; ++batch) {
    const float* matrix = elements<float>(operands.reads[0]) + batch * axes * (axes + 1);
    for (std::int64_t point = 0; point < points; ++point) {
      std::array<float, 4> position{};
      std::int64_t rest = point;
      for (int axis = axes; axis >= 1; --axis) {
        position[static_cast<std::size_t>(axes - axis)] =
            centered(rest % to[axis], to[axis], parameters.aligns_corners);
        rest /= to[axis];
      }
      position[static_cast<std::size_t>(axes)] = 1;
      for (int row = 0; row < axes; ++row) {
        float sum = 0;
        for (int column = 0; column <= axes; ++column)
          sum += matrix[row * (axes + 1) + column] * position[static_cast<std::size_t>(column)];
        *out++ = sum;
      }
    }
  }
  return {};
}

std::optional<GridParameters> grid_parameters(const Node& node) {
  GridParameters parameters{.aligns_corners = integer_attribute(node, "align_corners", 0) != 0};
  const std::string mode = text_attribute(node, "mode", "linear");
  const std::string outside = text_attribute(node, "padding_mode", "zeros");
  // Opset 16 has other names for two of the modes.
  if (mode == "nearest") {
    parameters.interpolation = Interpolation::nearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    parameters.interpolation = Interpolation::cubic;
  } else if (mode != "linear" && mode != "bilinear") {
    return std::nullopt;
  }
  if (outside == "border") {
    parameters.outside = Outside::border;
  } else if (outside == "reflection") {
    parameters.outside = Outside::reflection;
  } else if (outside != "zeros") {
    return std::nullopt;
  }
  return parameters;
}

std::string missing_grid_sample(const Graph& graph, const Node& node) {
  if (!grid_parameters(node)) return "attribute 'mode' or 'padding_mode' has an unknown value";
  if (computed_type(graph, node, 1) != DType::f32) return "the grid is not f32, f16 or bf16";
  return missing_spatial(graph, node);
}
std::string missing_affine_grid(const Graph& graph, const Node& node) {
  return computed_type(graph, node, 1) == DType::i64 ? "" : "the size is not i64";
}

template <PlainRun<GridParameters> run>
PreparedResult prepare_grid(const PrepareInput& input) {
  return plain_kernel(input, run, *grid_parameters(node_of(input)));
}

// Sorted by type.
constexpr std::array kGridTable{
    PlainOperator{.op = on_floats("AffineGrid"),
                  .operands = 2,
                  .prepare = &prepare_grid<&run_affine_grid>,
                  .missing = &missing_affine_grid,
                  .widens_half = true},
    PlainOperator{.op = on_floats("GridSample"),
                  .operands = 2,
                  .prepare = &prepare_grid<&run_grid_sample>,
                  .missing = &missing_grid_sample,
                  .widens_half = true},
};
constexpr std::array kGridOperators = operators_of(kGridTable);

}  // namespace

Family grid_sample_family() {
  return {.name = "grid",
          .operators = kGridOperators,
          .offer = [](const OfferInput& input) { return offer_from(kGridTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kGridTable, input); }};
}

}  // namespace lowtide::kernels_internal
