// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <span>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/convolution.h"
#include "lowtide/kernels/plain/slide.h"
#include "lowtide/kernels/plain/window.h"

namespace lowtide::kernels_internal {
namespace {

struct TransposedParameters {
  WindowAttributes window;
  std::vector<std::int64_t> output_padding;  // empty: 0
  std::vector<std::int64_t> output_shape;    // empty: it follows from the padding
  std::int64_t groups = 1;
};

// Sets the extent of the result and its padding. The window is that of the convolution from the result to the operand,
// so `in` is the extent of the result, and `out` is that of the operand.
bool set_axis(const TransposedParameters& parameters, std::size_t spatial, std::size_t at, WindowAxis& axis) {
  const WindowAttributes& window = parameters.window;
  // An output_shape may also have the batch and the channels in front.
  const std::span<const std::int64_t> shape =
      std::span(parameters.output_shape).last(parameters.output_shape.empty() ? 0 : spatial);
  const std::int64_t more = parameters.output_padding.empty() ? 0 : parameters.output_padding[at];
  const std::int64_t whole = (axis.out - 1) * axis.stride + more + (axis.kernel - 1) * axis.dilation + 1;
  const bool is_same = window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower;
  if (!shape.empty() || is_same) {
    axis.in = shape.empty() ? axis.out * axis.stride : shape[at];
    const std::int64_t padding = std::max<std::int64_t>(whole - axis.in, 0);
    const std::int64_t half = padding / 2;
    axis.pad_begin = window.auto_pad == AutoPad::same_upper ? half : padding - half;
    axis.pad_end = padding - axis.pad_begin;
  } else {
    const bool has_pads = window.auto_pad == AutoPad::none && !window.pads.empty();
    axis.pad_begin = has_pads ? window.pads[at] : 0;
    axis.pad_end = has_pads ? window.pads[window.pads.size() / 2 + at] : 0;
    axis.in = whole - axis.pad_begin - axis.pad_end;
  }
  return axis.in >= 0;
}

std::optional<Window> transposed_window(const TransposedParameters& parameters, const Extents& from,
                                        const Extents& weights) {
  const WindowAttributes& given = parameters.window;
  const auto spatial = static_cast<std::size_t>(std::max(from.rank() - 2, 0));
  const auto has = [](const std::vector<std::int64_t>& list, std::size_t wanted, std::int64_t least) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;  // so that products stay in 64 bits
    const auto is_valid = [&](std::int64_t value) { return value >= least && value <= kMost; };
    return (list.empty() || list.size() == wanted) && std::ranges::all_of(list, is_valid);
  };
  const bool agrees = spatial >= 1 && spatial <= kMostSpatial && weights.rank() == from.rank() &&
                      has(given.strides, spatial, 1) && has(given.dilations, spatial, 1) &&
                      has(given.pads, 2 * spatial, 0) && has(parameters.output_padding, spatial, 0);
  const std::size_t shape = parameters.output_shape.size();
  if (!agrees || (shape != 0 && shape != spatial && shape != spatial + 2)) return std::nullopt;
  Window window;
  for (std::size_t at = 0; at < spatial; ++at) {
    WindowAxis& axis = window.axes[kMostSpatial - spatial + at];
    axis.out = from[static_cast<int>(2 + at)];
    axis.kernel = weights[static_cast<int>(2 + at)];
    if (!given.strides.empty()) axis.stride = given.strides[at];
    if (!given.dilations.empty()) axis.dilation = given.dilations[at];
    if (!set_axis(parameters, spatial, at, axis)) return std::nullopt;
  }
  return window;
}

// to[i * stride] += factor * from[i]
void spread_row(float factor, const float* from, std::int64_t stride, float* to, std::int64_t count) {
  if (stride == 1) {
    for (std::int64_t at = 0; at < count; ++at) to[at] += factor * from[at];
  } else {
    for (std::int64_t at = 0; at < count; ++at) to[at * stride] += factor * from[at];
  }
}

// Adds the products of one plane of the operand with its taps to one plane of the result.
void spread_channel(const Window& window, const float* from, const float* taps, float* to) {
  const std::int64_t stride = window.axes[2].stride;
  for_each_row(window, [&](std::int64_t tap, std::int64_t in, std::int64_t out, std::int64_t count) {
    spread_row(taps[tap], from + out, stride, to + in, count);
  });
}

// The weights are [C, M / groups, taps...].
void spread_all(const Window& window, const Operands& operands, std::int64_t groups) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  const std::int64_t taps = weights.product(2, weights.rank());
  const std::int64_t in_of_group = groups == 0 ? 0 : from[1] / groups;
  const float* image = elements<float>(operands.reads[0]);
  float* to = mutable_elements<float>(operands.writes[0]);
  for (std::int64_t batch = 0; batch < from[0]; ++batch, image += from[1] * window.out_count()) {
    for (std::int64_t out = 0; out < weights[1] * groups; ++out, to += window.in_count()) {
      const bool has_bias = has_operand(operands.reads, 2);
      std::fill_n(to, window.in_count(), has_bias ? elements<float>(operands.reads[2])[out] : 0.0F);
      const std::int64_t first = out / weights[1] * in_of_group;
      for (std::int64_t in = first; in < first + in_of_group; ++in) {
        const float* factors = elements<float>(operands.reads[1]) + (in * weights[1] + out % weights[1]) * taps;
        spread_channel(window, image + in * window.out_count(), factors, to);
      }
    }
  }
}

RunStatus run_transposed(const TransposedParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  const std::optional<Window> window = transposed_window(parameters, from, weights);
  const std::int64_t groups = parameters.groups;
  if (!window || groups < 1 || from[1] != weights[0] || from[1] % groups != 0) return {RunCode::bad_extents, 1};
  const std::int64_t channels = weights[1] * groups;
  if (has_operand(operands.reads, 2) && count_of(operands.reads[2]) != channels) return {RunCode::bad_extents, 2};
  Extents to{from[0], channels};
  for (std::size_t at = kMostSpatial + 2 - static_cast<std::size_t>(from.rank()); at < kMostSpatial; ++at) {
    to.push_back(window->axes[at].in);
  }
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  spread_all(*window, operands, groups);
  return {};
}

PreparedResult prepare_transposed(const PrepareInput& input) {
  const Node& node = node_of(input);
  TransposedParameters parameters{.window = window_attributes(node), .groups = integer_attribute(node, "group", 1)};
  const std::vector<std::int64_t>* padding = integers_attribute(node, "output_padding");
  const std::vector<std::int64_t>* shape = integers_attribute(node, "output_shape");
  if (padding != nullptr) parameters.output_padding = *padding;
  if (shape != nullptr) parameters.output_shape = *shape;
  return plain_kernel(input, &run_transposed, std::move(parameters));
}

constexpr std::array kTransposedTable{
    PlainOperator{on_floats("ConvTranspose"), 2, &prepare_transposed, &missing_convolution, nullptr, true},
};
constexpr std::array kTransposedOperators = operators_of(kTransposedTable);

}  // namespace

Family transposed_convolution_family() {
  return {.name = "transposed convolution",
          .operators = kTransposedOperators,
          .offer = [](const OfferInput& input) { return offer_from(kTransposedTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kTransposedTable, input); }};
}

}  // namespace lowtide::kernels_internal
