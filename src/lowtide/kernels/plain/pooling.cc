// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/pooling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/window.h"

namespace lowtide::kernels_internal {
namespace {

struct PoolParameters {
  WindowAttributes window;
  bool counts_padding = false;   // count_include_pad
  bool is_column_major = false;  // storage_order of the indices of MaxPool
  double power = 2;              // of LpPool
};

// The window over an operand, which for global pools is the whole plane. nullopt: it does not fit.
std::optional<Window> pool_window(const WindowAttributes& attributes, const Extents& from, bool is_global) {
  if (from.rank() < 3) return std::nullopt;
  if (is_global) return window_over({}, from, Extents(from.values().subspan(2)));
  if (attributes.kernel.size() > kMostSpatial) return std::nullopt;
  return window_over(attributes, from, Extents(attributes.kernel));
}

// One result of a pool: its place, for the functions that reduce its taps.
struct PoolPlace {
  const Window& window;
  std::array<std::int64_t, kMostSpatial> at;
};

// Calls visit(position in the plane) for each tap of a place that is within the operand, row-major.
template <typename Visit>
void visit_taps(const PoolPlace& place, Visit visit) {
  const auto& [depth, height, width] = place.window.axes;
  for (std::int64_t tap_d = 0; tap_d < depth.kernel; ++tap_d) {
    const std::int64_t d = depth.position(place.at[0], tap_d);
    if (d < 0 || d >= depth.in) continue;
    for (std::int64_t tap_h = 0; tap_h < height.kernel; ++tap_h) {
      const std::int64_t h = height.position(place.at[1], tap_h);
      if (h < 0 || h >= height.in) continue;
      for (std::int64_t tap_w = 0; tap_w < width.kernel; ++tap_w) {
        const std::int64_t w = width.position(place.at[2], tap_w);
        if (w >= 0 && w < width.in) visit((d * height.in + h) * width.in + w);
      }
    }
  }
}

// Calls reduce(place, number of the plane, number of the result) for each result.
template <typename Reduce>
void for_each_place(const Window& window, std::int64_t planes, Reduce reduce) {
  std::int64_t result = 0;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    PoolPlace place{window, {}};
    for (place.at[0] = 0; place.at[0] < window.axes[0].out; ++place.at[0]) {
      for (place.at[1] = 0; place.at[1] < window.axes[1].out; ++place.at[1]) {
        for (place.at[2] = 0; place.at[2] < window.axes[2].out; ++place.at[2]) reduce(place, plane, result++);
      }
    }
  }
}

// The taps that an average divides by: those within the operand, or with count_include_pad also those in the padding,
// but not those beyond it, which a window has that was rounded up.
std::int64_t counted_taps(const PoolPlace& place, bool counts_padding) {
  std::int64_t all = 1;
  for (std::size_t axis = 0; axis < kMostSpatial; ++axis) {
    const WindowAxis& of = place.window.axes[axis];
    std::int64_t count = 0;
    for (std::int64_t tap = 0; tap < of.kernel; ++tap) {
      const std::int64_t position = of.position(place.at[axis], tap);
      const std::int64_t low = counts_padding ? -of.pad_begin : 0;
      if (position >= low && position < of.in + (counts_padding ? of.pad_end : 0)) ++count;
    }
    all *= count;
  }
  return all;
}

struct Average {
  static void run(const PoolParameters& parameters, const Window& window, const Operands& operands) {
    const auto* from = elements<float>(operands.reads[0]);
    auto* to = mutable_elements<float>(operands.writes[0]);
    const std::int64_t planes = operands.reads[0].extents[0] * operands.reads[0].extents[1];
    for_each_place(window, planes, [&](const PoolPlace& place, std::int64_t plane, std::int64_t result) {
      float sum = 0;
      visit_taps(place, [&](std::int64_t at) { sum += from[plane * window.in_count() + at]; });
      to[result] = sum / static_cast<float>(counted_taps(place, parameters.counts_padding));
    });
  }
};

// The p-th root of the sum of p-th powers.
struct Norm {
  static void run(const PoolParameters& parameters, const Window& window, const Operands& operands) {
    const auto* from = elements<float>(operands.reads[0]);
    auto* to = mutable_elements<float>(operands.writes[0]);
    const std::int64_t planes = operands.reads[0].extents[0] * operands.reads[0].extents[1];
    for_each_place(window, planes, [&](const PoolPlace& place, std::int64_t plane, std::int64_t result) {
      double sum = 0;
      visit_taps(place, [&](std::int64_t at) {
        sum += std::pow(std::fabs(static_cast<double>(from[plane * window.in_count() + at])), parameters.power);
      });
      to[result] = static_cast<float>(std::pow(sum, 1 / parameters.power));
    });
  }
};

// The position in a plane that is stored with the last spatial axis first.
std::int64_t column_major(const Window& window, std::int64_t at) {
  const auto& [depth, height, width] = window.axes;
  const std::int64_t w = at % width.in;
  const std::int64_t h = at / width.in % height.in;
  return (w * height.in + h) * depth.in + at / width.in / height.in;
}

template <typename T>
void max_of(const PoolParameters& parameters, const Window& window, const Operands& operands) {
  const auto* from = elements<T>(operands.reads[0]);
  auto* to = mutable_elements<T>(operands.writes[0]);
  const bool has_indices = has_operand(operands.writes, 1);
  const std::int64_t planes = operands.reads[0].extents[0] * operands.reads[0].extents[1];
  for_each_place(window, planes, [&](const PoolPlace& place, std::int64_t plane, std::int64_t result) {
    constexpr bool kHasInfinity = std::numeric_limits<T>::has_infinity;
    T most = kHasInfinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    std::int64_t index = -1;
    visit_taps(place, [&](std::int64_t at) {
      const T value = from[plane * window.in_count() + at];
      // A NaN wins, and stays because no comparison with it is true.
      if (index >= 0 && !(most < value) && !is_nan(value)) return;
      most = value;
      index = at;
    });
    to[result] = most;
    if (!has_indices) return;
    const std::int64_t in_plane = parameters.is_column_major && index >= 0 ? column_major(window, index) : index;
    mutable_elements<std::int64_t>(operands.writes[1])[result] = plane * window.in_count() + in_plane;
  });
}

struct Maximum {
  static void run(const PoolParameters& parameters, const Window& window, const Operands& operands) {
    switch (operands.reads[0].dtype) {
      case DType::f32: return max_of<float>(parameters, window, operands);
      case DType::i8: return max_of<std::int8_t>(parameters, window, operands);
      default: return max_of<std::uint8_t>(parameters, window, operands);
    }
  }
};

template <typename Kind, bool is_global>
RunStatus run_pool(const PoolParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<Window> window = pool_window(parameters.window, from, is_global);
  if (!window) return {RunCode::bad_extents, 0};
  for (const BoundTensor& result : operands.writes) {
    if (!is_present(result)) continue;
    const RunStatus status = set_extents(result, result_extents(*window, from, from[1]));
    if (status.code != RunCode::ok) return status;
  }
  Kind::run(parameters, *window, operands);
  return {};
}

// Whether a run could use the window. A window over extents that depend on data is checked in each run.
template <bool is_global>
std::string missing_window(const Tensor& from, const Node& node) {
  if (from.shape.has_upper_bounds() || pool_window(window_attributes(node), Extents(from.shape.extents()), is_global))
    return "";
  if (is_global) return "its operand " + to_string(from.shape) + " has no elements along a spatial axis";
  return "its window does not fit the operand " + to_string(from.shape) +
         "; kernel_shape, strides, dilations and pads must agree with it";
}

template <bool is_global>
std::string missing_pool(const Graph& graph, const Node& node) {
  const Tensor& from = graph.tensor(*node.inputs[0]);
  if (graph.tensor(*node.outputs[0]).dtype != from.dtype) return "the result has another type than the operand";
  const bool has_indices = node.outputs.size() > 1 && node.outputs[1];
  if (has_indices && graph.tensor(*node.outputs[1]).dtype != DType::i64) return "the indices are not i64";
  const std::string missing = missing_spatial(graph, node);
  return missing.empty() ? missing_window<is_global>(from, node) : missing;
}

template <typename Kind, bool is_global>
PreparedResult prepare_pool(const PrepareInput& input) {
  const Node& node = node_of(input);
  PoolParameters parameters{window_attributes(node), integer_attribute(node, "count_include_pad", 0) != 0,
                            integer_attribute(node, "storage_order", 0) != 0,
                            static_cast<double>(integer_attribute(node, "p", 2))};
  return plain_kernel(input, &run_pool<Kind, is_global>, std::move(parameters));
}

constexpr std::array kMaxPoolTypes{DType::f32, DType::f16, DType::i8, DType::u8};

template <typename Kind, bool is_global>
constexpr PlainOperator pool_row(std::string_view type, std::span<const DType> types = kFloatTypes) {
  return {{"", type, types}, 1, &prepare_pool<Kind, is_global>, &missing_pool<is_global>, nullptr, true};
}

// Sorted by type.
constexpr std::array kPoolTable{
    pool_row<Average, false>("AveragePool"), pool_row<Average, true>("GlobalAveragePool"),
    pool_row<Norm, true>("GlobalLpPool"),    pool_row<Maximum, true>("GlobalMaxPool"),
    pool_row<Norm, false>("LpPool"),         pool_row<Maximum, false>("MaxPool", kMaxPoolTypes),
};
constexpr std::array kPoolOperators = operators_of(kPoolTable);

}  // namespace

Family pooling_family() {
  return {.name = "pooling",
          .operators = kPoolOperators,
          .offer = [](const OfferInput& input) { return offer_from(kPoolTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kPoolTable, input); }};
}

}  // namespace lowtide::kernels_internal
