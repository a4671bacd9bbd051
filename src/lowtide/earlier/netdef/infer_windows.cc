// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/window_arguments.h"

namespace lowtide::netdef_internal {
namespace {

constexpr std::int64_t kMostArgument = std::int64_t{1} << 31;

// One spatial axis of a window.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t adjust = 0;  // of a transposed convolution
};

bool is_small(std::int64_t value, std::int64_t least) { return value >= least && value < kMostArgument; }

// nullopt, with the fault, if an argument is out of range.
std::optional<Window> window_of(OpTypes& types, std::size_t axis, std::size_t count) {
  const OpView& op = types.op;
  const Window window{.kernel = of_axis(op, "kernel", axis, count, 0),
                      .stride = of_axis(op, "stride", axis, count, 1),
                      .dilation = of_axis(op, "dilation", axis, count, 1),
                      .pad_begin = pad_of(op, axis, count, false),
                      .pad_end = pad_of(op, axis, count, true),
                      .adjust = of_axis(op, "adj", axis, count, 0)};
  const bool is_valid = is_small(window.kernel, 1) && is_small(window.stride, 1) && is_small(window.dilation, 1) &&
                        is_small(window.pad_begin, 0) && is_small(window.pad_end, 0) && is_small(window.adjust, 0);
  if (is_valid) return window;
  types.fault = "kernel " + std::to_string(window.kernel) + ", stride " + std::to_string(window.stride) +
                ", dilation " + std::to_string(window.dilation) + " and pads " + std::to_string(window.pad_begin) +
                " and " + std::to_string(window.pad_end) + " of a spatial axis are out of range";
  return std::nullopt;
}

std::int64_t ceiling(std::int64_t value, std::int64_t by) { return value <= 0 ? 0 : (value + by - 1) / by; }

// All terms are below 2^31 except `extent` and the product of kernel and dilation, which are below 2^62.
std::int64_t output_extent(const Window& window, std::int64_t extent, std::int64_t legacy) {
  const std::int64_t kernel = window.dilation * (window.kernel - 1) + 1;
  if (legacy == legacy_pad::kValid) return extent < kernel ? -1 : ceiling(extent - kernel + 1, window.stride);
  if (legacy == legacy_pad::kSame) return ceiling(extent, window.stride);
  const std::int64_t free = extent + window.pad_begin + window.pad_end - kernel;
  if (legacy == legacy_pad::kCaffePooling) {
    if (free <= -window.stride) return -1;  // rounded up, the last window begins before the first one
    const std::int64_t rounded = ceiling(free, window.stride) + 1;
    return (rounded - 1) * window.stride >= extent + window.pad_begin ? rounded - 1 : rounded;
  }
  return free < 0 ? -1 : free / window.stride + 1;
}

// The first spatial axis and the channel axis of an input.
struct Axes {
  std::size_t channel = 1;
  std::size_t spatial = 2;
  std::size_t count = 0;
};

std::optional<Axes> axes_of(const OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr || x->extents.size() < 3) return std::nullopt;
  const std::size_t rank = x->extents.size();
  const bool is_last = types.op.text("order", "NCHW") == "NHWC";
  return Axes{
      .channel = is_last ? rank - 1 : 1, .spatial = is_last ? std::size_t{1} : std::size_t{2}, .count = rank - 2};
}

// Sets output 0 to the input with other spatial extents and `channels`. `transposed` computes the inverse.
void set_windows(OpTypes& types, const Axes& axes, std::int64_t channels, bool is_transposed) {
  BlobType y = *types.input(0);
  y.extents[axes.channel] = channels;
  for (std::size_t axis = 0; axis < axes.count; ++axis) {
    std::int64_t& extent = y.extents[axes.spatial + axis];
    const std::optional<Window> window = window_of(types, axis, axes.count);
    if (!window) return;
    if (extent >= kMostArgument) return;
    if (is_transposed) {
      extent = (extent - 1) * window->stride + window->kernel + window->adjust - window->pad_begin - window->pad_end;
    } else {
      extent = output_extent(*window, extent, types.op.integer("legacy_pad", 0));
    }
    if (extent < 0) {
      types.fault = "a window of " + std::to_string(window->kernel) + " does not fit into the spatial extent " +
                    std::to_string(types.input(0)->extents[axes.spatial + axis]);
      return;
    }
  }
  types.set_output(0, std::move(y));
}

}  // namespace

std::int64_t of_axis(const OpView& op, const std::string& name, std::size_t axis, std::size_t count,
                     std::int64_t otherwise) {
  const std::optional<std::vector<std::int64_t>> all = op.integers(name + "s");
  if (all && axis < all->size()) return (*all)[axis];
  if (count == 2) {
    const char* suffix = axis == 0 ? "_h" : "_w";
    if (op.argument(name + suffix) != nullptr) return op.integer(name + suffix, otherwise);
  }
  return op.integer(name, otherwise);
}

std::int64_t pad_of(const OpView& op, std::size_t axis, std::size_t count, bool at_end) {
  const std::optional<std::vector<std::int64_t>> all = op.integers("pads");
  const std::size_t at = at_end ? axis + count : axis;
  if (all && at < all->size()) return (*all)[at];
  if (count == 2) {
    const char* name = axis == 0 ? (at_end ? "pad_b" : "pad_t") : (at_end ? "pad_r" : "pad_l");
    if (op.argument(name) != nullptr) return op.integer(name, 0);
  }
  return op.integer("pad", 0);
}

// X, W [M, C / group, kernel...], b [M] -> Y
void infer_conv(OpTypes& types) {
  const std::optional<Axes> axes = axes_of(types);
  const BlobType* w = types.input(1);
  if (w == nullptr || w->extents.empty()) return;
  const std::int64_t channels = w->extents[0];
  types.suggest_input(2, {w->dtype, {channels}});
  if (!axes) return;
  const bool is_last = axes->spatial == 1;
  const std::size_t rank = types.input(0)->extents.size();
  if (w->extents.size() == rank) {
    const std::int64_t given = types.input(0)->extents[axes->channel];
    const std::int64_t taken = w->extents[is_last ? rank - 1 : 1];
    const std::optional<std::int64_t> needed =
        checked_multiply(taken, std::max<std::int64_t>(types.op.integer("group", 1), 1));
    if (needed != given) {
      types.fault = "the input has " + std::to_string(given) + " channels, but the weight takes " +
                    std::to_string(taken) + " in each of " + std::to_string(types.op.integer("group", 1)) + " groups";
      return;
    }
  }
  set_windows(types, *axes, channels, false);
}

// X, W [C, M, kernel...], b [M] -> Y
void infer_conv_transpose(OpTypes& types) {
  const std::optional<Axes> axes = axes_of(types);
  const BlobType* w = types.input(1);
  if (!axes || w == nullptr || w->extents.size() != types.input(0)->extents.size()) return;
  const std::int64_t group = types.op.integer("group", 1);
  const std::size_t at = axes->spatial == 1 ? w->extents.size() - 1 : 1;
  const std::optional<std::int64_t> channels = checked_multiply(w->extents[at], group);
  if (!channels || *channels < 0) return;
  types.suggest_input(2, {w->dtype, {*channels}});
  set_windows(types, *axes, *channels, true);
}

void infer_pool(OpTypes& types) {
  const std::optional<Axes> axes = axes_of(types);
  if (!axes) return;
  if (types.op.integer("global_pooling", 0) == 0) {
    return set_windows(types, *axes, types.input(0)->extents[axes->channel], false);
  }
  BlobType y = *types.input(0);
  for (std::size_t axis = 0; axis < axes->count; ++axis) y.extents[axes->spatial + axis] = 1;
  types.set_output(0, std::move(y));
}

}  // namespace lowtide::netdef_internal
