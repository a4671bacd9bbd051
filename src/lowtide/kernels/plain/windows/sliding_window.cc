// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/windows/sliding_window.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/ceil_div.h"
#include "lowtide/kernels/common/convolution_shape.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::int64_t kMostOfAWindow = std::int64_t{1} << 31;  // of attributes, so that products stay in 64 bits

AutoPad auto_pad_of(const Node& node) {
  const std::string text = text_attribute(node, "auto_pad", "NOTSET");
  if (text == "SAME_UPPER") return AutoPad::same_upper;
  if (text == "SAME_LOWER") return AutoPad::same_lower;
  return text == "VALID" ? AutoPad::valid : AutoPad::none;
}

// Sets the padding so that the result has ceil(in / stride) elements. An odd rest goes to the end, or to the begin.
void pad_same(WindowAxis& axis, bool is_upper) {
  axis.out = (axis.in + axis.stride - 1) / axis.stride;
  const std::int64_t covered = (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
  const std::int64_t padding = std::max<std::int64_t>(covered - axis.in, 0);
  axis.pad_begin = is_upper ? padding / 2 : padding - padding / 2;
  axis.pad_end = padding - axis.pad_begin;
}

// False if the window does not fit. The quotient is rounded down, or up with ceil_mode. So a window that exceeds the
// padded operand by at most a stride has no result, and with ceil_mode it may have one.
bool set_result(WindowAxis& axis, bool rounds_up) {
  const std::int64_t space = axis.in + axis.pad_begin + axis.pad_end - (axis.kernel - 1) * axis.dilation - 1;
  const std::int64_t rest = space % axis.stride;
  axis.out = space / axis.stride + 1;
  if (rounds_up && rest > 0) ++axis.out;
  if (!rounds_up && rest < 0) --axis.out;
  // A window that begins in the padding at the end is left out.
  if (rounds_up && axis.out > 0 && (axis.out - 1) * axis.stride >= axis.in + axis.pad_begin) --axis.out;
  return axis.out >= 0;
}

}  // namespace

WindowAttributes window_attributes(const Node& node) {
  return {.kernel = list_attribute(node, "kernel_shape"),
          .strides = list_attribute(node, "strides"),
          .pads = list_attribute(node, "pads"),
          .dilations = list_attribute(node, "dilations"),
          .auto_pad = auto_pad_of(node),
          .rounds_up = integer_attribute(node, "ceil_mode", 0) != 0};
}

std::pair<std::int64_t, std::int64_t> WindowAxis::valid_results(std::int64_t tap) const {
  const std::int64_t offset = tap * dilation - pad_begin;
  const std::int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const std::int64_t end = in - offset <= 0 ? 0 : (in - offset - 1) / stride + 1;
  return {std::min(first, out), std::clamp(end, std::min(first, out), out)};
}

Interval<std::int64_t> WindowAxis::taps_within(std::int64_t at, std::int64_t low, std::int64_t high) const {
  const std::int64_t first = position(at, 0);
  const auto taps_before = [&](std::int64_t end) {
    return end <= first ? std::int64_t{0} : std::min(kernel, ceil_div(end - first, dilation));
  };
  const std::int64_t begin = taps_before(low);
  return {begin, std::max(begin, taps_before(high))};
}

Interval<std::int64_t> WindowAxis::useful_taps() const {
  const std::int64_t begin = taps_within(out - 1, 0, in).begin;
  return {begin, std::max(begin, taps_within(0, 0, in).end)};
}

std::optional<Window> window_over(const WindowAttributes& attributes, const Extents& operand, const Extents& kernel) {
  const int spatial = operand.rank() - 2;
  const auto count = static_cast<std::size_t>(std::max(spatial, 0));
  const auto has = [](const std::vector<std::int64_t>& list, std::size_t wanted) {
    return list.empty() || list.size() == wanted;
  };
  const bool agrees = spatial >= 1 && count <= kMostSpatial && kernel.rank() == spatial &&
                      has(attributes.strides, count) && has(attributes.dilations, count) &&
                      has(attributes.pads, 2 * count);
  if (!agrees) return std::nullopt;
  Window window;
  for (std::size_t at = 0; at < count; ++at) {
    WindowAxis& axis = window.axes[kMostSpatial - count + at];
    axis.in = operand[static_cast<int>(2 + at)];
    axis.kernel = kernel[static_cast<int>(at)];
    if (!attributes.strides.empty()) axis.stride = attributes.strides[at];
    if (!attributes.dilations.empty()) axis.dilation = attributes.dilations[at];
    const bool has_pads = attributes.auto_pad == AutoPad::none && !attributes.pads.empty();
    if (has_pads) axis.pad_begin = attributes.pads[at];
    if (has_pads) axis.pad_end = attributes.pads[count + at];
    const auto is_small = [](std::int64_t value) { return value > -kMostOfAWindow && value < kMostOfAWindow; };
    const bool is_valid = axis.stride > 0 && axis.dilation > 0 && axis.kernel > 0 && is_small(axis.stride) &&
                          is_small(axis.dilation) && is_small(axis.kernel) && is_small(axis.pad_begin) &&
                          is_small(axis.pad_end);
    if (!is_valid) return std::nullopt;
    if (attributes.auto_pad == AutoPad::same_upper || attributes.auto_pad == AutoPad::same_lower) {
      pad_same(axis, attributes.auto_pad == AutoPad::same_upper);
    } else if (!set_result(axis, attributes.rounds_up)) {
      return std::nullopt;
    }
  }
  const auto& [depth, height, width] = window.axes;
  // So that taps can be counted.
  if (depth.kernel * height.kernel > std::numeric_limits<std::int64_t>::max() / width.kernel) return std::nullopt;
  return window;
}

Extents result_extents(const Window& window, const Extents& operand, std::int64_t channels) {
  Extents extents{operand[0], channels};
  const auto spatial = static_cast<std::size_t>(operand.rank() - 2);
  for (std::size_t at = kMostSpatial - spatial; at < kMostSpatial; ++at) extents.push_back(window.axes[at].out);
  return extents;
}

std::string misfit_of_window(const Graph& graph, const Node& node, std::size_t weights) {
  const std::vector<std::int64_t>* given = integers_attribute(node, "kernel_shape");
  if (given == nullptr || weights >= node.inputs.size() || !node.inputs[weights]) return "";
  const Shape& shape = graph.tensor(*node.inputs[weights]).shape;
  if (shape.rank() < 2) return "";
  Shape window(std::vector<std::int64_t>(shape.extents().begin() + 2, shape.extents().end()));
  bool may_equal = std::cmp_equal(given->size(), window.rank());
  for (int axis = 0; axis < window.rank(); ++axis) {
    if (shape.is_at_most(axis + 2)) window.mark_at_most(axis);  // only a run knows the extent
    may_equal = may_equal && (window.is_at_most(axis) || (*given)[static_cast<std::size_t>(axis)] == window[axis]);
  }
  if (may_equal) return "";
  return "attribute 'kernel_shape' is " + to_string(Shape(*given)) + ", and the weights have a window of " +
         to_string(window);
}

std::string missing_spatial(const Graph& graph, const Node& node) {
  const int rank = graph.tensor(*node.inputs[0]).shape.rank();
  return rank <= 2 + static_cast<int>(kMostSpatial) ? "" : "kernels have at most 3 spatial axes";
}

std::string missing_convolution(const Graph& graph, const Node& node) {
  const DType dtype = graph.tensor(*node.outputs[0]).dtype;
  const bool is_equal =
      std::ranges::all_of(node.inputs, [&](const auto& id) { return !id || graph.tensor(*id).dtype == dtype; });
  if (!is_equal) return "the operands have different types";
  std::string missing = missing_spatial(graph, node);
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  // A run checks extents that only it knows.
  const bool is_known = node.inputs.size() > 2 && node.inputs[2] && result.rank() > 1 && !result.is_at_most(1) &&
                        !graph.tensor(*node.inputs[2]).shape.has_upper_bounds();
  if (missing.empty()) missing = misfit_of_window(graph, node, 1);
  return missing.empty() && is_known ? misfit_of_bias(graph, node, result[1]) : missing;
}

}  // namespace lowtide::kernels_internal
