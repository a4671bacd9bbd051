// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/convolution/convolution.h"

#include <algorithm>
#include <array>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/products/row_tile.h"
#include "lowtide/kernels/plain/windows/slide.h"

namespace lowtide::kernels_internal {
namespace {

struct ConvolutionParameters {
  WindowAttributes window;
  std::int64_t groups = 1;
};

// to[i] += factor * from[i * stride]
template <typename T>
void add_row(T factor, const T* from, std::int64_t stride, T* to, std::int64_t count) {
  if (stride == 1) {
    for (std::int64_t at = 0; at < count; ++at) to[at] += factor * from[at];
  } else {
    for (std::int64_t at = 0; at < count; ++at) to[at] += factor * from[at * stride];
  }
}

// Up to kMostTileRows channels of the result of one image and one group.
struct TileChannels {
  const float* image = nullptr;  // the channels of the group
  const float* factors = nullptr;
  const float* bias = nullptr;  // of the first one; nullptr: none
  float* result = nullptr;
  std::int64_t count = 0;
  std::int64_t read = 0;  // channels of the group
};

// Computes columns of a row of results, all of which have the same taps.
void run_columns(const Window& window, const TileChannels& channels, std::int64_t row, Interval<std::int64_t> columns) {
  const auto& [depth, height, width] = window.axes;
  const Interval<std::int64_t> down = height.taps_within(row, 0, height.in);
  const Interval<std::int64_t> across = width.taps_within(columns.begin, 0, width.in);
  const std::int64_t taps = height.kernel * width.kernel;
  const std::int64_t first = height.position(row, down.begin) * width.in + width.position(columns.begin, across.begin);
  run_row_tile({.factors = channels.factors + down.begin * width.kernel + across.begin,
                .factor_step = channels.read * taps,
                .factor_channel = taps,
                .factor_down = width.kernel,
                .source = channels.image + first,
                .source_channel = window.in_count(),
                .source_down = height.dilation * width.in,
                .source_across = width.dilation,
                .channels = channels.read,
                .taps_down = std::max<std::int64_t>(down.end - down.begin, 0),
                .taps_across = std::max<std::int64_t>(across.end - across.begin, 0),
                .begin = channels.bias,
                .result = channels.result + row * width.out + columns.begin,
                .result_step = window.out_count(),
                .rows = channels.count,
                .columns = columns.end - columns.begin});
}

// Whether neighboring results of a row read neighboring elements.
bool has_neighbors(const Window& window) {
  const WindowAxis& depth = window.axes[0];
  return depth.in == 1 && depth.out == 1 && depth.kernel == 1 && depth.pad_begin == 0 && window.axes[2].stride == 1;
}

// The results whose taps are all within the operand. Those before and behind have fewer.
Interval<std::int64_t> inner_columns(const WindowAxis& width) {
  const std::int64_t first = std::clamp<std::int64_t>(width.valid_results(0).first, 0, width.out);
  const std::int64_t end = std::clamp<std::int64_t>(width.valid_results(width.kernel - 1).second, 0, width.out);
  return {first, std::max(first, end)};
}

// Computes these columns of all rows.
void run_channels(const Window& window, const TileChannels& channels, Interval<std::int64_t> columns) {
  const Interval<std::int64_t> all = inner_columns(window.axes[2]);
  const Interval<std::int64_t> inner{std::clamp(all.begin, columns.begin, columns.end),
                                     std::clamp(all.end, columns.begin, columns.end)};
  for (std::int64_t row = 0; row < window.axes[1].out; ++row) {
    for (std::int64_t at = columns.begin; at < inner.begin; ++at) run_columns(window, channels, row, {at, at + 1});
    if (inner.begin < inner.end) run_columns(window, channels, row, inner);
    for (std::int64_t at = inner.end; at < columns.end; ++at) run_columns(window, channels, row, {at, at + 1});
  }
}

// Computes these columns of planes.
void run_columns_of_planes(const ConvolutionParameters& parameters, const Operands& operands, const Window& window,
                           Interval<std::int64_t> planes, Interval<std::int64_t> columns) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  const std::int64_t of_one = weights.product(1, weights.rank());
  const std::int64_t out_of_group = weights[0] / parameters.groups;
  const float* bias = has_operand(operands.reads, 2) ? elements<float>(operands.reads[2]) : nullptr;
  for (std::int64_t plane = planes.begin; plane < planes.end;) {
    const std::int64_t out = plane % weights[0];
    const std::int64_t group = out / out_of_group;
    const std::int64_t left = std::min((group + 1) * out_of_group - out, planes.end - plane);
    const TileChannels channels{.image = elements<float>(operands.reads[0]) +
                                         (plane / weights[0] * from[1] + group * weights[1]) * window.in_count(),
                                .factors = elements<float>(operands.reads[1]) + out * of_one,
                                .bias = bias == nullptr ? nullptr : bias + out,
                                .result = mutable_elements<float>(operands.writes[0]) + plane * window.out_count(),
                                .count = std::min(left, kMostTileRows),
                                .read = weights[1]};
    run_channels(window, channels, columns);
    plane += channels.count;
  }
}

// Does what run_planes() does, where has_neighbors(). In a plane of one row, all channels read some columns before they
// read more.
RunCode run_neighbors(const ConvolutionParameters& parameters, const Operands& operands, const Window& window,
                      Interval<std::int64_t> planes) {
  const std::int64_t columns = window.axes[2].out;
  const std::int64_t most = window.axes[1].out == 1 ? kTileColumns : columns;
  for (std::int64_t first = 0; first < columns; first += most) {
    run_columns_of_planes(parameters, operands, window, planes, {first, std::min(first + most, columns)});
  }
  return RunCode::ok;
}

// Computes planes [begin, end) of the result, which are channels of images.
template <typename T>
RunCode run_planes(const ConvolutionParameters& parameters, const Operands& operands, const Window& window,
                   std::int64_t begin, std::int64_t end) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  const std::int64_t in_plane = window.in_count();
  const std::int64_t out_plane = window.out_count();
  const std::int64_t taps = weights.product(2, weights.rank());
  const std::int64_t out_of_group = weights[0] / parameters.groups;
  const T* bias = has_operand(operands.reads, 2) ? elements<T>(operands.reads[2]) : nullptr;
  T* to = mutable_elements<T>(operands.writes[0]) + begin * out_plane;
  for (std::int64_t plane = begin; plane < end; ++plane, to += out_plane) {
    const std::int64_t out = plane % weights[0];
    const T* image = elements<T>(operands.reads[0]) + plane / weights[0] * from[1] * in_plane;
    std::fill_n(to, out_plane, bias == nullptr ? T{0} : bias[out]);
    const T* of_group = image + out / out_of_group * weights[1] * in_plane;
    for (std::int64_t in = 0; in < weights[1]; ++in) {
      const T* factors = elements<T>(operands.reads[1]) + (out * weights[1] + in) * taps;
      slide_channel(window, of_group + in * in_plane, factors, to, [](auto... row) { add_row(row...); });
    }
  }
  return RunCode::ok;
}

RunStatus run_plain_convolution(const ConvolutionParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  if (from.rank() < 3 || weights.rank() != from.rank()) return {RunCode::bad_extents, 1};
  const std::optional<Window> found = window_over(parameters.window, from, Extents(weights.values().subspan(2)));
  const std::int64_t groups = parameters.groups;
  const bool agrees = found && groups >= 1 && from[1] == weights[1] * groups && weights[0] % groups == 0;
  if (!agrees) return {RunCode::bad_extents, 1};
  const bool has_bias = has_operand(operands.reads, 2);
  if (has_bias && count_of(operands.reads[2]) != weights[0]) return {RunCode::bad_extents, 2};
  const RunStatus status = set_extents(operands.writes[0], result_extents(*found, from, weights[0]));
  if (status.code != RunCode::ok) return status;
  Window window = *found;
  merge_rows(window);
  const std::int64_t planes = from[0] * weights[0];
  const std::int64_t operations = planes * window.out_count() * weights.product(1, weights.rank());
  // A group of one channel has no rows to share what is read: with tiles for them, too, randwire_s1 takes 173 ms under
  // a budget, and 120 tap by tap.
  const bool is_wide = operands.reads[0].dtype == DType::f64;
  const bool is_in_tiles = !is_wide && has_neighbors(window) && weights[0] > groups;
  const RunCode code = run_in_parts(team, planes, operations, [&](std::int64_t begin, std::int64_t end) {
    if (is_in_tiles) return run_neighbors(parameters, operands, window, {begin, end});
    return is_wide ? run_planes<double>(parameters, operands, window, begin, end)
                   : run_planes<float>(parameters, operands, window, begin, end);
  });
  return {code, 0};
}

PreparedResult prepare_plain_convolution(const PrepareInput& input) {
  return plain_kernel(
      input, &run_plain_convolution,
      ConvolutionParameters{window_attributes(node_of(input)), integer_attribute(node_of(input), "group", 1)});
}

constexpr std::array kConvolutionTable{
    PlainOperator{.op = on_reals("Conv"),
                  .operands = 2,
                  .prepare = &prepare_plain_convolution,
                  .missing = &missing_convolution,
                  .widens_half = true},
};
constexpr std::array kConvolutionOperators = operators_of(kConvolutionTable);

}  // namespace

Family convolution_family() {
  return {.name = "convolution",
          .operators = kConvolutionOperators,
          .offer = [](const OfferInput& input) { return offer_from(kConvolutionTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kConvolutionTable, input); }};
}

}  // namespace lowtide::kernels_internal
