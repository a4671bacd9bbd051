// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/windows/transposed_window.h"

#include <algorithm>

#include "lowtide/base/checked.h"
#include "lowtide/kernels/common/attributes.h"

namespace lowtide::kernels_internal {
namespace {

using List = std::vector<std::int64_t>;

bool has_numbers(const List& list, std::size_t count, std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const auto is_valid = [&](std::int64_t value) { return value >= least && value <= kMost; };
  return list.size() == count && std::ranges::all_of(list, is_valid);
}

bool may_have_numbers(const List& list, std::size_t count, std::int64_t least) {
  return list.empty() || has_numbers(list, count, least);
}

std::int64_t listed(const List& list, std::size_t at, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[at];
}

// (extent - 1) * stride + reach. Returns nullopt if it has no 64 bits.
std::optional<std::int64_t> stretched(std::int64_t extent, std::int64_t stride, std::optional<std::int64_t> reach) {
  const auto steps = checked_multiply(extent - 1, stride);
  return steps && reach ? checked_add(*steps, *reach) : std::nullopt;
}

}  // namespace

TransposedAttributes transposed_attributes(const Node& node) {
  return {.window = window_attributes(node),
          .output_padding = list_attribute(node, "output_padding"),
          .output_shape = list_attribute(node, "output_shape")};
}

bool has_axes(const TransposedAttributes& attributes, std::size_t spatial) {
  const WindowAttributes& window = attributes.window;
  return may_have_numbers(window.strides, spatial, 1) && may_have_numbers(window.dilations, spatial, 1) &&
         may_have_numbers(window.pads, 2 * spatial, 0) && may_have_numbers(attributes.output_padding, spatial, 0) &&
         (may_have_numbers(attributes.output_shape, spatial, 0) ||
          may_have_numbers(attributes.output_shape, spatial + 2, 0));
}

std::optional<std::int64_t> given_extent(const TransposedAttributes& attributes, std::size_t spatial, std::size_t at) {
  const List& shape = attributes.output_shape;
  return shape.empty() ? std::nullopt : std::optional(shape[shape.size() - spatial + at]);
}

std::optional<WindowAxis> transposed_axis(const TransposedAttributes& attributes, std::size_t spatial, std::size_t at,
                                          std::int64_t extent, std::int64_t taps) {
  const WindowAttributes& window = attributes.window;
  WindowAxis axis{.out = extent,
                  .kernel = taps,
                  .stride = listed(window.strides, at, 1),
                  .dilation = listed(window.dilations, at, 1)};
  const std::int64_t more = listed(attributes.output_padding, at, 0);
  const auto reach = checked_multiply(taps - 1, axis.dilation);
  const auto whole = stretched(extent, axis.stride, reach ? checked_add(*reach, more + 1) : std::nullopt);
  const auto same = stretched(extent, axis.stride, axis.stride);
  if (!whole || !same) return std::nullopt;
  const std::optional<std::int64_t> given = given_extent(attributes, spatial, at);
  const bool is_same = window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower;
  if (given || is_same) {
    // Windows that do not reach as far leave the result shorter, as in ONNX's rules of shapes and in ONNX Runtime.
    axis.in = given ? *given : std::min(*same, *whole);
    const std::int64_t padding = std::max(*whole, axis.in) - axis.in;
    axis.pad_begin = window.auto_pad == AutoPad::same_upper ? padding / 2 : padding - padding / 2;
    axis.pad_end = padding - axis.pad_begin;
  } else {
    const bool has_pads = window.auto_pad == AutoPad::none && !window.pads.empty();
    axis.pad_begin = has_pads ? window.pads[at] : 0;
    axis.pad_end = has_pads ? window.pads[spatial + at] : 0;
    axis.in = *whole - axis.pad_begin - axis.pad_end;
  }
  return axis.in >= 0 ? std::optional(axis) : std::nullopt;
}

bool has_unpool_axes(const WindowAttributes& window, std::size_t spatial) {
  return has_numbers(window.kernel, spatial, 0) && may_have_numbers(window.strides, spatial, 0) &&
         may_have_numbers(window.pads, 2 * spatial, 0);
}

std::optional<std::int64_t> unpooled_extent(const WindowAttributes& window, std::size_t spatial, std::size_t at,
                                            std::int64_t extent) {
  const std::int64_t padding = listed(window.pads, at, 0) + listed(window.pads, spatial + at, 0);
  const auto unpooled = stretched(extent, listed(window.strides, at, 1), window.kernel[at] - padding);
  return unpooled && *unpooled >= 0 ? unpooled : std::nullopt;
}

}  // namespace lowtide::kernels_internal
