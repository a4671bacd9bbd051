// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

// The axes of an image, or of a volume, by data_format: channels are last unless it is NCHW or NCDHW.
struct ImageAxes {
  std::size_t channel = 3;
  std::size_t spatial = 1;  // the first one
  std::size_t count = 2;    // of spatial axes
};

// A window that moves over an image. The lists have one number per axis of the image.
struct Window {
  Extents size;
  Extents strides;
  Extents dilations;
  Extents paddings = {};  // two numbers per axis, if the padding is EXPLICIT
  std::string_view padding;
};

std::optional<ImageAxes> image_axes(const NodeTypes& types) {
  const Extents* x = types.extents(0);
  if (x == nullptr || (x->size() != 4 && x->size() != 5)) return std::nullopt;
  const bool is_volume = x->size() == 5;
  const std::string_view format = types.node.text("data_format", is_volume ? "NDHWC" : "NHWC");
  if (format == (is_volume ? "NDHWC" : "NHWC")) return ImageAxes{x->size() - 1, 1, x->size() - 2};
  return format == (is_volume ? "NCDHW" : "NCHW") ? std::optional(ImageAxes{1, 2, x->size() - 2}) : std::nullopt;
}

std::int64_t at_or_one(const Extents& list, std::size_t axis) { return axis < list.size() ? list[axis] : 1; }

// One spatial extent behind a window; nullopt if it is not known, with a fault if the window does not fit.
std::optional<std::int64_t> windowed(NodeTypes& types, const Window& window, std::int64_t extent, std::size_t axis) {
  const std::int64_t size = at_or_one(window.size, axis);
  const std::int64_t stride = at_or_one(window.strides, axis);
  const std::int64_t dilation = at_or_one(window.dilations, axis);
  if (extent == kOpen || size == kOpen) return kOpen;
  const auto is_small = [](std::int64_t value) { return value >= 1 && value < kMostArgument; };
  if (!is_small(stride) || !is_small(dilation) || !is_small(size) || extent < 0 || extent >= kMostArgument) {
    types.fault = "kernel " + std::to_string(size) + ", stride " + std::to_string(stride) + " or dilation " +
                  std::to_string(dilation) + " of a spatial axis is out of range";
    return std::nullopt;
  }
  if (window.padding == "SAME") return (extent + stride - 1) / stride;
  std::int64_t padded = extent;
  if (window.padding == "EXPLICIT") {
    for (std::size_t side = 0; side < 2; ++side) {
      if (2 * axis + side >= window.paddings.size()) return std::nullopt;
      const std::int64_t padding = window.paddings[2 * axis + side];
      if (padding < 0 || padding >= kMostArgument) return std::nullopt;
      padded += padding;
    }
  } else if (window.padding != "VALID") {
    return std::nullopt;
  }
  const std::int64_t free = padded - ((size - 1) * dilation + 1);
  if (free >= 0) return free / stride + 1;
  types.fault =
      "a window of " + std::to_string(size) + " does not fit into the spatial extent " + std::to_string(padded);
  return std::nullopt;
}

// The window as the attributes of a node give it.
Window window_of(const NodeTypes& types, Extents size) {
  return {.size = std::move(size),
          .strides = types.node.integers("strides"),
          .dilations = types.node.integers("dilations"),
          .paddings = types.node.integers("explicit_paddings"),
          .padding = types.node.text("padding", "")};
}

std::optional<Extents> image_behind(NodeTypes& types, const ImageAxes& axes, std::int64_t channels,
                                    const Window& window) {
  const Extents* x = types.extents(0);
  if (x == nullptr) return std::nullopt;
  Extents y = *x;
  y[axes.channel] = channels;
  for (std::size_t at = axes.spatial; at < axes.spatial + axes.count; ++at) {
    const std::optional<std::int64_t> extent = windowed(types, window, y[at], at);
    if (!extent) return std::nullopt;
    y[at] = *extent;
  }
  return y;
}

// A filter has its spatial axes first, and then two of channels. `channels` are those of the result.
void convolve(NodeTypes& types, const ImageAxes& axes, const Extents& filter, std::int64_t channels) {
  Extents size(axes.count + 2, 1);
  std::copy(filter.begin(), filter.end() - 2, size.begin() + static_cast<std::ptrdiff_t>(axes.spatial));
  std::optional<Extents> y = image_behind(types, axes, channels, window_of(types, std::move(size)));
  if (y) types.set(0, *std::move(y));
}

// The integers of an attribute, or of an input in newer versions of an operator.
Extents attribute_or_input(const NodeTypes& types, std::string_view attribute, std::size_t input) {
  const Extents* given = types.content(input);
  Extents list = types.node.integers(attribute);
  return list.empty() && given != nullptr ? *given : list;
}

// The sizes of the blocks of SpaceToBatchND and BatchToSpaceND by axis, and what is added and cut off there.
struct SpaceBlocks {
  std::int64_t count = 1;  // of all axes
  Extents sizes;
  Extents ends;  // two numbers per axis
};

std::optional<SpaceBlocks> space_blocks(const NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* sizes = types.values(1);
  const Extents* ends = types.values(2);
  if (x == nullptr || sizes == nullptr || ends == nullptr) return std::nullopt;
  if (sizes->size() >= x->size() || ends->size() != 2 * sizes->size()) return std::nullopt;
  const auto is_small = [](std::int64_t value) { return value >= 0 && value < kMostArgument; };
  if (!std::ranges::all_of(*sizes, is_small) || !std::ranges::all_of(*ends, is_small)) return std::nullopt;
  const std::optional<std::int64_t> count = product(*sizes);
  if (!count || *count == 0) return std::nullopt;
  return SpaceBlocks{*count, *sizes, *ends};
}

// Divides an extent. nullopt: there is a remainder.
std::optional<std::int64_t> divided_extent(std::int64_t extent, std::int64_t by) {
  if (extent == kOpen) return kOpen;
  return extent % by == 0 ? std::optional(extent / by) : std::nullopt;
}

}  // namespace

// x, filter [height, width, in, out], or with a depth before them
void infer_conv(NodeTypes& types) {
  const std::optional<ImageAxes> axes = image_axes(types);
  const Extents* filter = types.extents(1);
  if (axes && filter != nullptr && filter->size() == axes->count + 2) convolve(types, *axes, *filter, filter->back());
}

// x, filter [height, width, in, multiplier]
void infer_depthwise(NodeTypes& types) {
  const std::optional<ImageAxes> axes = image_axes(types);
  const Extents* filter = types.extents(1);
  if (!axes || axes->count != 2 || filter == nullptr || filter->size() != 4) return;
  const std::optional<std::int64_t> channels = multiplied_extents((*filter)[2], (*filter)[3]);
  if (channels) convolve(types, *axes, *filter, *channels);
}

// Windows over channels are not followed.
void infer_pool(NodeTypes& types) {
  const std::optional<ImageAxes> axes = image_axes(types);
  Extents size = attribute_or_input(types, "ksize", 1);
  if (!axes || size.size() != axes->count + 2 || size.front() != 1 || size[axes->channel] != 1) return;
  Window window = window_of(types, std::move(size));
  window.strides = attribute_or_input(types, "strides", 2);
  const bool has_inputs = types.inputs.size() > 1;  // MaxPoolV2
  if (has_inputs && window.strides.size() != window.size.size()) return;
  std::optional<Extents> y = image_behind(types, *axes, (*types.extents(0))[axes->channel], window);
  if (y) types.set(0, *std::move(y));
}

void infer_pool_with_argmax(NodeTypes& types) {
  infer_pool(types);
  if (types.outputs.size() < 2) return;
  types.outputs[1].extents = types.outputs[0].extents;
  types.outputs[1].dtype = types.node.dtype("Targmax").value_or(DType::i64);
}

// Each window becomes one vector.
void infer_image_patches(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents size = types.node.integers("ksizes");
  if (x == nullptr || x->size() != 4 || size.size() != 4) return;
  std::optional<std::int64_t> channels = (*x)[3];
  for (std::size_t axis : {1U, 2U}) {
    if (channels) channels = multiplied_extents(*channels, size[axis]);
  }
  const Window window = {.size = size,
                         .strides = types.node.integers("strides"),
                         .dilations = types.node.integers("rates"),
                         .padding = types.node.text("padding", "")};
  std::optional<Extents> y = channels ? image_behind(types, ImageAxes(), *channels, window) : std::nullopt;
  if (y) types.set(0, *std::move(y));
}

void infer_depth_to_space(NodeTypes& types) {
  const std::optional<ImageAxes> axes = image_axes(types);
  const std::int64_t block = types.node.integer("block_size", 0);
  if (!axes || axes->count != 2 || block < 1 || block >= kMostArgument) return;
  Extents y = *types.extents(0);
  const std::optional<std::int64_t> channels = divided_extent(y[axes->channel], block * block);
  const std::optional<std::int64_t> height = multiplied_extents(y[axes->spatial], block);
  const std::optional<std::int64_t> width = multiplied_extents(y[axes->spatial + 1], block);
  if (!channels || !height || !width) return;
  y[axes->channel] = *channels;
  y[axes->spatial] = *height;
  y[axes->spatial + 1] = *width;
  types.set(0, std::move(y));
}

void infer_space_to_depth(NodeTypes& types) {
  const std::optional<ImageAxes> axes = image_axes(types);
  const std::int64_t block = types.node.integer("block_size", 0);
  if (!axes || axes->count != 2 || block < 1 || block >= kMostArgument) return;
  Extents y = *types.extents(0);
  const std::optional<std::int64_t> channels = multiplied_extents(y[axes->channel], block * block);
  const std::optional<std::int64_t> height = divided_extent(y[axes->spatial], block);
  const std::optional<std::int64_t> width = divided_extent(y[axes->spatial + 1], block);
  if (!channels || !height || !width) return;
  y[axes->channel] = *channels;
  y[axes->spatial] = *height;
  y[axes->spatial + 1] = *width;
  types.set(0, std::move(y));
}

// x, sizes of the blocks, paddings
void infer_space_to_batch(NodeTypes& types) {
  const std::optional<SpaceBlocks> blocks = space_blocks(types);
  if (!blocks) return;
  Extents y = *types.extents(0);
  std::optional<std::int64_t> extent = multiplied_extents(y.front(), blocks->count);
  if (!extent) return;
  y.front() = *extent;
  for (std::size_t at = 0; at < blocks->sizes.size(); ++at) {
    extent = added_extents(y[at + 1], blocks->ends[2 * at] + blocks->ends[2 * at + 1]);
    if (extent) extent = divided_extent(*extent, blocks->sizes[at]);
    if (!extent) return;
    y[at + 1] = *extent;
  }
  types.set(0, std::move(y));
}

// x, sizes of the blocks, what is cut off
void infer_batch_to_space(NodeTypes& types) {
  const std::optional<SpaceBlocks> blocks = space_blocks(types);
  if (!blocks) return;
  Extents y = *types.extents(0);
  std::optional<std::int64_t> extent = divided_extent(y.front(), blocks->count);
  if (!extent) return;
  y.front() = *extent;
  for (std::size_t at = 0; at < blocks->sizes.size(); ++at) {
    extent = multiplied_extents(y[at + 1], blocks->sizes[at]);
    if (extent && *extent != kOpen) *extent -= blocks->ends[2 * at] + blocks->ends[2 * at + 1];
    if (!extent || *extent < kOpen || (*extent == kOpen && y[at + 1] != kOpen)) return;
    y[at + 1] = *extent;
  }
  types.set(0, std::move(y));
}

// Images, and their new height and width.
void infer_resize(NodeTypes& types) {
  const Extents* images = types.extents(0);
  const Extents* size = types.values(1);
  if (images == nullptr || images->size() != 4 || size == nullptr || size->size() != 2) return;
  if (size->front() < 0 || size->back() < 0) return;
  types.set(0, {images->front(), size->front(), size->back(), images->back()});
}

// Images, boxes, the image of each box, and the height and width of the results.
void infer_crop_and_resize(NodeTypes& types) {
  const Extents* images = types.extents(0);
  const Extents* boxes = types.extents(1);
  const Extents* size = types.values(3);
  if (images == nullptr || images->size() != 4 || boxes == nullptr || boxes->size() != 2) return;
  if (size == nullptr || size->size() != 2 || size->front() < 0 || size->back() < 0) return;
  types.set(0, {boxes->front(), size->front(), size->back(), images->back()});
}

}  // namespace lowtide::graphdef_internal
