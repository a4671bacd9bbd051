// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/common/extents.h"

namespace lowtide::kernels_internal {

// The most spatial axes of convolutions and pools.
inline constexpr std::size_t kMostSpatial = 3;

enum class AutoPad : std::uint8_t { none, same_upper, same_lower, valid };

// The attributes of an operator with a sliding window. Lists are empty where the node has none.
struct WindowAttributes {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> pads;  // all begins, then all ends
  std::vector<std::int64_t> dilations;
  AutoPad auto_pad = AutoPad::none;
  bool rounds_up = false;  // ceil_mode
};
[[nodiscard]] WindowAttributes window_attributes(const Node& node);

// One spatial axis of a window.
struct WindowAxis {
  std::int64_t in = 1;      // extent of the operand
  std::int64_t out = 1;     // extent of the result
  std::int64_t kernel = 1;  // taps
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;

  // The position in the operand of a tap; outside of [0, in) it is padding.
  [[nodiscard]] std::int64_t position(std::int64_t at, std::int64_t tap) const {
    return at * stride - pad_begin + tap * dilation;
  }
  // The results whose tap is within the operand: [first, second).
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> valid_results(std::int64_t tap) const;
  // The taps of a result whose positions are in [low, high). O(1), since a window may be much larger than its operand.
  [[nodiscard]] Interval<std::int64_t> taps_within(std::int64_t at, std::int64_t low, std::int64_t high) const;
  // The taps that can be within the operand for some result.
  [[nodiscard]] Interval<std::int64_t> useful_taps() const;
};

// Depth, height and width. Missing axes are in front and have extents of 1.
struct Window {
  std::array<WindowAxis, kMostSpatial> axes;

  [[nodiscard]] std::int64_t in_count() const { return axes[0].in * axes[1].in * axes[2].in; }
  [[nodiscard]] std::int64_t out_count() const { return axes[0].out * axes[1].out * axes[2].out; }
};

// The window over an operand [N, C, spatial...]. `kernel` has the extents of the window. Returns nullopt if attributes
// and extents do not agree, or an extent of the result would be negative.
[[nodiscard]] std::optional<Window> window_over(const WindowAttributes& attributes, const Extents& operand,
                                                const Extents& kernel);

// The extents of the result: [batch, channels, spatial...] with as many axes as the operand.
[[nodiscard]] Extents result_extents(const Window& window, const Extents& operand, std::int64_t channels);

// Why the attribute 'kernel_shape' is not the extents of the window that an operand has, the weights [M, C, window...].
// Empty: they may be equal, or the node lacks one of both.
[[nodiscard]] std::string misfit_of_window(const Graph& graph, const Node& node, std::size_t weights);

// Why no kernel has a window over all axes of the first operand after batch and channel; empty if kernels have it.
[[nodiscard]] std::string missing_spatial(const Graph& graph, const Node& node);
// The same for a convolution, whose operands must also have the type of its result.
[[nodiscard]] std::string missing_convolution(const Graph& graph, const Node& node);

}  // namespace lowtide::kernels_internal
