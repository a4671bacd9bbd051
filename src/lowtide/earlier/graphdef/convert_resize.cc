// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lowtide/earlier/graphdef/image_order.h"
#include "lowtide/earlier/graphdef/node_conversion.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr ImageOrder kChannelsLast;  // of images that are resized

bool is_aligned_at_corners(const NodeConversion& node) { return node.node().is_set("align_corners"); }

std::string coordinates_of(const NodeConversion& node) {
  if (is_aligned_at_corners(node)) return "align_corners";
  return node.node().is_set("half_pixel_centers") ? "half_pixel" : "asymmetric";
}

// The nearest element for each place of one axis, computed in f32 as TensorFlow does.
Extents nearest_indices(const NodeConversion& node, std::int64_t given, std::int64_t made) {
  const bool is_aligned = is_aligned_at_corners(node);
  const bool is_centered = node.node().is_set("half_pixel_centers");
  const float scale = is_aligned && made > 1 ? static_cast<float>(given - 1) / static_cast<float>(made - 1)
                                             : static_cast<float>(given) / static_cast<float>(made);
  Extents indices;
  for (std::int64_t at = 0; at < made; ++at) {
    const float place = (static_cast<float>(at) + (is_centered ? 0.5F : 0.0F)) * scale;
    const float nearest = is_aligned ? std::round(place) : std::floor(place);
    indices.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(nearest), 0, given - 1));
  }
  return indices;
}

bool is_whole_repetition(const Extents& indices, std::int64_t given) {
  const auto made = static_cast<std::int64_t>(indices.size());
  if (given == 0 || made % given != 0) return false;
  for (std::int64_t at = 0; at < made; ++at) {
    if (indices[static_cast<std::size_t>(at)] != at / (made / given)) return false;
  }
  return true;
}

bool has_elements(NodeConversion& node) {
  const auto is_empty = [](const Extents& shape) { return std::ranges::find(shape, 0) != shape.end(); };
  const bool are_images = node.shape(0).size() == 4 && node.result_shape().size() == 4;
  if (are_images && !is_empty(node.shape(0)) && !is_empty(node.result_shape())) return true;
  node.fault = "its operand or its result is no image with elements";
  return false;
}

// What SpaceToBatchND and BatchToSpaceND take: a block for each spatial axis, and two numbers at its ends.
struct BlockOperands {
  Extents blocks;
  Extents ends;
};

std::optional<BlockOperands> block_operands(NodeConversion& node) {
  const Extents* blocks = node.known(1, "block shape");
  const Extents* ends = blocks == nullptr ? nullptr : node.known(2, "paddings or crops");
  if (ends == nullptr) return std::nullopt;
  if (ends->size() == 2 * blocks->size() && blocks->size() < node.shape(0).size()) return BlockOperands{*blocks, *ends};
  node.fault = "its block shape and its paddings do not fit together";
  return std::nullopt;
}

}  // namespace

// TensorFlow interpolates numbers of any type in f32.
void convert_resize_bilinear(NodeConversion& node) {
  if (!has_elements(node)) return;
  std::string image = image_operand(node, 0, kChannelsLast);
  if (node.dtype(0) != DType::f32) image = node.make("Cast", {image}, {{"to", onnx_number_of(DType::f32)}});
  write_image(
      node, kChannelsLast,
      {.type = "Resize",
       .inputs = {image, "", "", node.to.integers(extents_in_first(node.result_shape()))},
       .outputs = {},
       .attributes = {{"mode", std::string("linear")}, {"coordinate_transformation_mode", coordinates_of(node)}}});
}

// A whole number of repetitions is a Resize. Otherwise, the rows and the columns are gathered.
void convert_resize_nearest(NodeConversion& node) {
  if (!has_elements(node)) return;
  const Extents& x = node.shape(0);
  const Extents& y = node.result_shape();
  if (!may_make(node, y[1]) || !may_make(node, y[2])) return;
  const Extents rows = nearest_indices(node, x[1], y[1]);
  const Extents columns = nearest_indices(node, x[2], y[2]);
  const std::string first = image_operand(node, 0, kChannelsLast);
  if (is_whole_repetition(rows, x[1]) && is_whole_repetition(columns, x[2])) {
    return write_image(node, kChannelsLast,
                       {.type = "Resize",
                        .inputs = {first, "", "", node.to.integers(extents_in_first(y))},
                        .outputs = {},
                        .attributes = {{"mode", std::string("nearest")},
                                       {"coordinate_transformation_mode", std::string("asymmetric")},
                                       {"nearest_mode", std::string("floor")}}});
  }
  const std::string of_rows = node.make("Gather", {first, node.to.integers(rows)}, {{"axis", std::int64_t{2}}});
  write_image(node, kChannelsLast,
              {.type = "Gather",
               .inputs = {of_rows, node.to.integers(columns)},
               .outputs = {},
               .attributes = {{"axis", std::int64_t{3}}}});
}

// Also SpaceToDepth.
void convert_depth_to_space(NodeConversion& node) {
  const std::optional<ImageOrder> order = image_order(node, node.shape(0).size());
  if (!order) return;
  write_image(node, *order,
              {.type = std::string(node.node().op()),
               .inputs = {image_operand(node, 0, *order)},
               .outputs = {},
               .attributes = {{"blocksize", node.node().integer("block_size", 1)}}});
}

// x [N, H, W, ...] is padded, and becomes [N, H/b, b, W/b, b, ...], then [b, b, N, H/b, W/b, ...].
void convert_space_to_batch(NodeConversion& node) {
  const std::optional<BlockOperands> given = block_operands(node);
  if (!given) return;
  const Extents& x = node.shape(0);
  const std::size_t count = given->blocks.size();
  Extents pads(2 * x.size(), 0);
  Extents split = {x[0]};
  Extents axes;
  for (std::size_t at = 0; at < count; ++at) {
    pads[1 + at] = given->ends[2 * at];
    pads[x.size() + 1 + at] = given->ends[2 * at + 1];
    const std::int64_t padded = x[1 + at] + given->ends[2 * at] + given->ends[2 * at + 1];
    if (given->blocks[at] < 1 || given->ends[2 * at] < 0 || given->ends[2 * at + 1] < 0) {
      node.fault = "its blocks or paddings are out of range";
      return;
    }
    split.push_back(padded / given->blocks[at]);
    split.push_back(given->blocks[at]);
    axes.push_back(static_cast<std::int64_t>(2 * at + 2));
  }
  axes.push_back(0);
  for (std::size_t at = 0; at < count; ++at) axes.push_back(static_cast<std::int64_t>(2 * at + 1));
  for (std::size_t axis = count + 1; axis < x.size(); ++axis) {
    axes.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(x[axis]);
  }
  const std::string padded = node.make("Pad", {node.operands[0], node.to.integers(pads)});
  write_reshaped(node, node.make("Transpose", {node.reshaped(padded, split)}, {{"perm", axes}}));
}

// x [b * b * N, H, W, ...] becomes [b, b, N, H, W, ...], then [N, H, b, W, b, ...], and is cut off at its ends.
void convert_batch_to_space(NodeConversion& node) {
  const std::optional<BlockOperands> given = block_operands(node);
  if (!given) return;
  const Extents& x = node.shape(0);
  const Extents& y = node.result_shape();
  const std::size_t count = given->blocks.size();
  if (y.size() != x.size()) {
    node.fault = "its operand and its result have different numbers of axes";
    return;
  }
  Extents split = given->blocks;
  split.push_back(y[0]);
  split.insert(split.end(), x.begin() + 1, x.end());
  Extents axes = {static_cast<std::int64_t>(count)};
  Extents whole = {y[0]};
  Extents starts;
  Extents ends;
  Extents cut;
  for (std::size_t at = 0; at < count; ++at) {
    axes.push_back(static_cast<std::int64_t>(count + 1 + at));
    axes.push_back(static_cast<std::int64_t>(at));
    whole.push_back(x[1 + at] * given->blocks[at]);
    starts.push_back(given->ends[2 * at]);
    ends.push_back(given->ends[2 * at] + y[1 + at]);
    cut.push_back(static_cast<std::int64_t>(1 + at));
  }
  for (std::size_t axis = count + 1; axis < x.size(); ++axis) {
    axes.push_back(static_cast<std::int64_t>(count + axis));
    whole.push_back(x[axis]);
  }
  const std::string moved = node.make("Transpose", {node.reshaped(node.operands[0], split)}, {{"perm", axes}});
  node.write("Slice",
             {node.reshaped(moved, whole), node.to.integers(starts), node.to.integers(ends), node.to.integers(cut)});
}

}  // namespace lowtide::graphdef_internal
