// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/convolution/pooling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/plain/windows/slide.h"
#include "lowtide/kernels/plain/windows/sliding_window.h"

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
  const Interval<std::int64_t> taps_d = depth.taps_within(place.at[0], 0, depth.in);
  const Interval<std::int64_t> taps_h = height.taps_within(place.at[1], 0, height.in);
  const Interval<std::int64_t> taps_w = width.taps_within(place.at[2], 0, width.in);
  for (std::int64_t tap_d = taps_d.begin; tap_d < taps_d.end; ++tap_d) {
    for (std::int64_t tap_h = taps_h.begin; tap_h < taps_h.end; ++tap_h) {
      const std::int64_t row = depth.position(place.at[0], tap_d) * height.in + height.position(place.at[1], tap_h);
      for (std::int64_t tap_w = taps_w.begin; tap_w < taps_w.end; ++tap_w) {
        visit(row * width.in + width.position(place.at[2], tap_w));
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

// The taps of one axis that an average divides by: those within the operand, or with count_include_pad also those in
// the padding, but not those beyond it, which a window has that was rounded up.
std::int64_t counted_taps(const WindowAxis& axis, std::int64_t at, bool counts_padding) {
  const Interval<std::int64_t> taps =
      counts_padding ? axis.taps_within(at, -axis.pad_begin, axis.in + axis.pad_end) : axis.taps_within(at, 0, axis.in);
  return taps.end - taps.begin;
}

// Calls pool_plane(plane) for each plane of the operand, on the threads of the team.
template <typename PoolPlane>
RunCode pool_planes(const Window& window, const Operands& operands, Team& team, const PoolPlane& pool_plane) {
  const std::int64_t planes = operands.reads[0].extents[0] * operands.reads[0].extents[1];
  // At least about as many. The taps are not counted, since a window may be much larger than its operand.
  const std::int64_t operations = planes * (window.in_count() + window.out_count());
  return run_in_parts(team, planes, operations, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) pool_plane(plane);
    return RunCode::ok;
  });
}

// to[i] += from[i * stride]
template <typename T>
LOWTIDE_VECTOR_CLONES void add_row(const T* from, std::int64_t stride, T* to, std::int64_t count) {
  if (stride == 1) {
    for (std::int64_t at = 0; at < count; ++at) to[at] += from[at];
  } else {
    for (std::int64_t at = 0; at < count; ++at) to[at] += from[at * stride];
  }
}

// A pool of f32 or f64, given its function run_as<T>().
template <typename Kind>
struct OfReals {
  static RunCode run(const PoolParameters& parameters, const Window& window, const Operands& operands, Team& team) {
    if (operands.reads[0].dtype == DType::f64) {
      return Kind::template run_as<double>(parameters, window, operands, team);
    }
    return Kind::template run_as<float>(parameters, window, operands, team);
  }

 private:
  OfReals() = default;
  friend Kind;
};

struct Average : OfReals<Average> {
  template <typename T>
  static RunCode run_as(const PoolParameters& parameters, const Window& window, const Operands& operands, Team& team) {
    const auto* from = elements<T>(operands.reads[0]);
    auto* to = mutable_elements<T>(operands.writes[0]);
    return pool_planes(window, operands, team, [&](std::int64_t plane) {
      T* result = to + plane * window.out_count();
      std::fill_n(result, window.out_count(), T{0});
      for_each_row(window, [&](std::int64_t /*tap*/, std::int64_t in, std::int64_t out, std::int64_t count) {
        const T* row = from + plane * window.in_count() + in;
        add_row(row, window.axes[2].stride, result + out, count);
      });
      divide(window, parameters.counts_padding, result);
    });
  }

  template <typename T>
  static void divide(const Window& window, bool counts_padding, T* result) {
    const auto& [depth, height, width] = window.axes;
    for (std::int64_t row = 0; row < depth.out * height.out; ++row) {
      const std::int64_t count = counted_taps(depth, row / height.out, counts_padding) *
                                 counted_taps(height, row % height.out, counts_padding);
      for (std::int64_t at = 0; at < width.out; ++at, ++result) {
        // The average of no element is 0, as in ONNX Runtime.
        *result /= static_cast<T>(std::max<std::int64_t>(count * counted_taps(width, at, counts_padding), 1));
      }
    }
  }
};

// Averages whole planes, several at a time, because each sum waits for its own last addition only.
struct GlobalAverage : OfReals<GlobalAverage> {
  template <typename T>
  static RunCode run_as(const PoolParameters& /*parameters*/, const Window& window, const Operands& operands,
                        Team& team) {
    constexpr std::int64_t kAtOnce = 8;
    const auto* from = elements<T>(operands.reads[0]);
    auto* to = mutable_elements<T>(operands.writes[0]);
    const std::int64_t count = window.in_count();
    const std::int64_t planes = operands.reads[0].extents[0] * operands.reads[0].extents[1];
    return run_in_parts(team, planes, planes * count, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t plane = begin;
      for (; plane + kAtOnce <= end; plane += kAtOnce) average<kAtOnce>(from + plane * count, count, to + plane);
      for (; plane < end; ++plane) average<1>(from + plane * count, count, to + plane);
      return RunCode::ok;
    });
  }

  template <std::size_t planes, typename T>
  static void average(const T* from, std::int64_t count, T* to) {
    std::array<T, planes> sums{};
    for (std::int64_t at = 0; at < count; ++at) {
      for (std::size_t plane = 0; plane < planes; ++plane) {
        sums[plane] += from[static_cast<std::int64_t>(plane) * count + at];
      }
    }
    for (std::size_t plane = 0; plane < planes; ++plane) to[plane] = sums[plane] / static_cast<T>(count);
  }
};

// The p-th root of the sum of p-th powers.
struct Norm : OfReals<Norm> {
  template <typename T>
  static RunCode run_as(const PoolParameters& parameters, const Window& window, const Operands& operands,
                        Team& /*team*/) {
    const auto* from = elements<T>(operands.reads[0]);
    auto* to = mutable_elements<T>(operands.writes[0]);
    const std::int64_t planes = operands.reads[0].extents[0] * operands.reads[0].extents[1];
    for_each_place(window, planes, [&](const PoolPlace& place, std::int64_t plane, std::int64_t result) {
      double sum = 0;
      visit_taps(place, [&](std::int64_t at) {
        sum += std::pow(std::fabs(static_cast<double>(from[plane * window.in_count() + at])), parameters.power);
      });
      to[result] = static_cast<T>(std::pow(sum, 1 / parameters.power));
    });
    return RunCode::ok;
  }
};

// The position in a plane that is stored with the last spatial axis first.
std::int64_t column_major(const Window& window, std::int64_t at) {
  const auto& [depth, height, width] = window.axes;
  const std::int64_t w = at % width.in;
  const std::int64_t h = at / width.in % height.in;
  return (w * height.in + h) * depth.in + at / width.in / height.in;
}

// A NaN wins, and stays because no comparison with it is true. Without a branch, so that a loop becomes vectors.
template <typename T>
T larger(T most, T value) {
  return (static_cast<unsigned>(most < value) | static_cast<unsigned>(is_nan(value))) != 0 ? value : most;
}

// to[i] = the larger of to[i] and from[i * stride]
template <typename T>
LOWTIDE_VECTOR_CLONES void keep_larger(const T* from, std::int64_t stride, T* to, std::int64_t count) {
  if (stride == 1) {
    for (std::int64_t at = 0; at < count; ++at) to[at] = larger(to[at], from[at]);
  } else {
    for (std::int64_t at = 0; at < count; ++at) to[at] = larger(to[at], from[at * stride]);
  }
}

template <typename T>
constexpr T kLeast = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();

// The maxima and where they are.
template <typename T>
void max_with_indices(const PoolParameters& parameters, const Window& window, const Operands& operands) {
  const auto* from = elements<T>(operands.reads[0]);
  auto* to = mutable_elements<T>(operands.writes[0]);
  const std::int64_t planes = operands.reads[0].extents[0] * operands.reads[0].extents[1];
  for_each_place(window, planes, [&](const PoolPlace& place, std::int64_t plane, std::int64_t result) {
    T most = kLeast<T>;
    std::int64_t index = -1;
    visit_taps(place, [&](std::int64_t at) {
      const T value = from[plane * window.in_count() + at];
      // The order is that of larger().
      if (index >= 0 && !(most < value) && !is_nan(value)) return;
      most = value;
      index = at;
    });
    to[result] = most;
    const std::int64_t in_plane = parameters.is_column_major && index >= 0 ? column_major(window, index) : index;
    mutable_elements<std::int64_t>(operands.writes[1])[result] = plane * window.in_count() + in_plane;
  });
}

template <typename T>
RunCode max_of(const PoolParameters& parameters, const Window& window, const Operands& operands, Team& team) {
  if (has_operand(operands.writes, 1)) {
    max_with_indices<T>(parameters, window, operands);
    return RunCode::ok;
  }
  const auto* from = elements<T>(operands.reads[0]);
  auto* to = mutable_elements<T>(operands.writes[0]);
  return pool_planes(window, operands, team, [&](std::int64_t plane) {
    T* result = to + plane * window.out_count();
    std::fill_n(result, window.out_count(), kLeast<T>);
    for_each_row(window, [&](std::int64_t /*tap*/, std::int64_t in, std::int64_t out, std::int64_t count) {
      keep_larger(from + plane * window.in_count() + in, window.axes[2].stride, result + out, count);
    });
  });
}

struct Maximum {
  static RunCode run(const PoolParameters& parameters, const Window& window, const Operands& operands, Team& team) {
    switch (operands.reads[0].dtype) {
      case DType::f64: return max_of<double>(parameters, window, operands, team);
      case DType::f32: return max_of<float>(parameters, window, operands, team);
      case DType::i8: return max_of<std::int8_t>(parameters, window, operands, team);
      default: return max_of<std::uint8_t>(parameters, window, operands, team);
    }
  }
};

template <typename Kind, bool is_global>
RunStatus run_pool(const PoolParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<Window> window = pool_window(parameters.window, from, is_global);
  if (!window) return {RunCode::bad_extents, 0};
  for (const BoundTensor& result : operands.writes) {
    if (!is_present(result)) continue;
    const RunStatus status = set_extents(result, result_extents(*window, from, from[1]));
    if (status.code != RunCode::ok) return status;
  }
  return {Kind::run(parameters, *window, operands, team), 0};
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

constexpr std::array kMaxPoolTypes{DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8};

template <typename Kind, bool is_global>
constexpr PlainOperator pool_row(std::string_view type, std::span<const DType> types = kRealTypes) {
  return {{"", type, types}, 1, &prepare_pool<Kind, is_global>, &missing_pool<is_global>, nullptr, true};
}

// Sorted by type.
constexpr std::array kPoolTable{
    pool_row<Average, false>("AveragePool"), pool_row<GlobalAverage, true>("GlobalAveragePool"),
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
