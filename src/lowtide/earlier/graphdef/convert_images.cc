// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/earlier/graphdef/image_order.h"
#include "lowtide/earlier/graphdef/node_conversion.h"

namespace lowtide::graphdef_internal {
namespace {

// A window as ONNX has it: one number per spatial axis, and the pads of all begins before those of all ends.
struct SlidingWindow {
  Extents kernel;
  Extents strides;
  Extents dilations;
  Extents pads;
};

std::int64_t listed_or_one(const Extents& list, std::size_t axis) { return axis < list.size() ? list[axis] : 1; }

// `large` is the extent that the window moves over, and `small` the number of its places.
std::pair<std::int64_t, std::int64_t> same_pads(std::int64_t large, std::int64_t small, std::int64_t kernel,
                                                std::int64_t stride) {
  const std::int64_t total = std::max<std::int64_t>((small - 1) * stride + kernel - large, 0);
  return {total / 2, total - total / 2};
}

// `large` and `small` are the shapes with and without the axes that the window covers. nullopt, with a fault, if the
// window moves over channels or images.
std::optional<SlidingWindow> sliding_window(NodeConversion& node, const ImageOrder& order, const Extents& kernel,
                                            const Extents& large, const Extents& small) {
  const Extents strides = node.types.inputs.size() >= 3 && node.node().op() == "MaxPoolV2" && node.types.content(2)
                              ? *node.types.content(2)
                              : node.node().integers("strides");
  const Extents dilations = node.node().integers("dilations");
  const Extents paddings = node.node().integers("explicit_paddings");
  const std::string_view padding = node.node().text("padding", "");
  for (const std::size_t axis : {std::size_t{0}, order.channel}) {
    if (listed_or_one(strides, axis) == 1 && listed_or_one(dilations, axis) == 1) continue;
    node.fault = "its window moves over channels or images";
    return std::nullopt;
  }
  SlidingWindow window{.kernel = kernel, .strides = {}, .dilations = {}, .pads = Extents(2 * order.count, 0)};
  for (std::size_t at = 0; at < order.count; ++at) {
    const std::size_t axis = order.spatial + at;
    window.strides.push_back(listed_or_one(strides, axis));
    window.dilations.push_back(listed_or_one(dilations, axis));
    const std::int64_t covered = (kernel[at] - 1) * window.dilations[at] + 1;
    if (padding == "SAME") {
      const auto [begin, end] = same_pads(large[axis], small[axis], covered, window.strides[at]);
      window.pads[at] = begin;
      window.pads[at + order.count] = end;
    } else if (padding == "EXPLICIT" && 2 * axis + 1 < paddings.size()) {
      window.pads[at] = paddings[2 * axis];
      window.pads[at + order.count] = paddings[2 * axis + 1];
    }
  }
  return window;
}

std::vector<Attribute> attributes_of(const SlidingWindow& window, bool has_dilations) {
  std::vector<Attribute> attributes = {
      {"kernel_shape", window.kernel}, {"strides", window.strides}, {"pads", window.pads}};
  if (has_dilations) attributes.push_back({"dilations", window.dilations});
  return attributes;
}

// Whether the image, the result and the filter have as many axes as they must. Otherwise there is a fault.
bool are_ranks_right(NodeConversion& node, std::size_t image, std::size_t filter, std::size_t least) {
  const std::size_t rank = node.shape(image).size();
  if (rank >= least && node.result_shape().size() == rank && node.shape(filter).size() == rank) return true;
  node.fault = "its operands and its result have different numbers of axes";
  return false;
}

// The spatial extents of a filter, which come before those of its channels.
Extents kernel_of(const Extents& filter) { return {filter.begin(), filter.end() - 2}; }

// [H, W, in, out] -> [out, in, H, W]
std::string filter_first(NodeConversion& node, std::size_t operand) {
  const auto rank = static_cast<std::int64_t>(node.shape(operand).size());
  Extents axes = {rank - 1, rank - 2};
  for (std::int64_t axis = 0; axis + 2 < rank; ++axis) axes.push_back(axis);
  return node.make("Transpose", {node.operands[operand]}, {{"perm", axes}});
}

}  // namespace

void convert_conv(NodeConversion& node) {
  if (!are_ranks_right(node, 0, 1, 4)) return;
  const Extents& filter = node.shape(1);
  const std::optional<ImageOrder> order = image_order(node, node.shape(0).size());
  if (!order) return;
  const auto window = sliding_window(node, *order, kernel_of(filter), node.shape(0), node.result_shape());
  if (!window) return;
  const std::int64_t taken = filter[filter.size() - 2];
  std::vector<Attribute> attributes = attributes_of(*window, true);
  attributes.push_back({"group", taken > 0 ? node.shape(0)[order->channel] / taken : 1});
  write_image(node, *order,
              {.type = "Conv",
               .inputs = {image_operand(node, 0, *order), filter_first(node, 1)},
               .outputs = {},
               .attributes = std::move(attributes)});
}

// Filter [H, W, C, M]: M results for each of C channels.
void convert_depthwise_conv(NodeConversion& node) {
  if (!are_ranks_right(node, 0, 1, 4)) return;
  const Extents& filter = node.shape(1);
  const std::optional<ImageOrder> order = image_order(node, node.shape(0).size());
  if (!order) return;
  const auto window = sliding_window(node, *order, kernel_of(filter), node.shape(0), node.result_shape());
  if (!window) return;
  const std::string of_channels = node.make("Transpose", {node.operands[1]}, {{"perm", Extents{2, 3, 0, 1}}});
  std::vector<Attribute> attributes = attributes_of(*window, true);
  attributes.push_back({"group", filter[2]});
  const std::string weights = node.reshaped(of_channels, {filter[2] * filter[3], 1, filter[0], filter[1]});
  write_image(node, *order,
              {.type = "Conv",
               .inputs = {image_operand(node, 0, *order), weights},
               .outputs = {},
               .attributes = std::move(attributes)});
}

// Inputs: the shape of the result, the filter [H, W, out, in], the image. The window moves over the result.
void convert_conv_transpose(NodeConversion& node) {
  if (!are_ranks_right(node, 2, 1, 4)) return;
  if (node.dtype(2) == DType::f64) {
    node.fault = "no kernel has transposed convolutions of f64; use f32";
    return;
  }
  const Extents& filter = node.shape(1);
  const Extents& y = node.result_shape();
  const std::optional<ImageOrder> order = image_order(node, y.size());
  if (!order) return;
  const auto window = sliding_window(node, *order, kernel_of(filter), y, node.shape(2));
  if (!window) return;
  const std::int64_t channels = filter[2];
  if (channels != y[order->channel]) {
    node.fault = "its filter makes " + std::to_string(channels) + " channels, but the result has " +
                 std::to_string(y[order->channel]);
    return;
  }
  Extents rests;
  for (std::size_t at = 0; at < order->count; ++at) {
    const std::size_t axis = order->spatial + at;
    const std::int64_t covered = (window->kernel[at] - 1) * window->dilations[at] + 1;
    const std::int64_t made =
        (node.shape(2)[axis] - 1) * window->strides[at] + covered - window->pads[at] - window->pads[at + order->count];
    rests.push_back(y[axis] - made);
    if (rests.back() < 0 || rests.back() >= window->strides[at]) {
      node.fault = "no convolution makes its shape from that of the result";
      return;
    }
  }
  std::vector<Attribute> attributes = attributes_of(*window, true);
  attributes.push_back({"output_padding", rests});
  write_image(node, *order,
              {.type = "ConvTranspose",
               .inputs = {image_operand(node, 2, *order), filter_first(node, 1)},
               .outputs = {},
               .attributes = std::move(attributes)});
}

void convert_pool(NodeConversion& node) {
  if (!are_ranks_right(node, 0, 0, 4)) return;
  const std::optional<ImageOrder> order = image_order(node, node.shape(0).size());
  if (!order) return;
  Extents sizes = node.node().integers("ksize");
  if (node.node().op() == "MaxPoolV2") {
    const Extents* given = node.known(1, "sizes");
    if (given == nullptr || node.known(2, "strides") == nullptr) return;
    sizes = *given;
  }
  Extents kernel;
  for (std::size_t at = 0; at < order->count; ++at) kernel.push_back(listed_or_one(sizes, order->spatial + at));
  if (listed_or_one(sizes, 0) != 1 || listed_or_one(sizes, order->channel) != 1) {
    node.fault = "its window covers several channels or images";
    return;
  }
  const auto window = sliding_window(node, *order, kernel, node.shape(0), node.result_shape());
  if (!window) return;
  // Pads do not count in an average of TensorFlow, nor in one of ONNX.
  write_image(node, *order,
              {.type = node.node().op().starts_with("Max") ? "MaxPool" : "AveragePool",
               .inputs = {image_operand(node, 0, *order)},
               .outputs = {},
               .attributes = attributes_of(*window, false)});
}

// Results 1 and 2 are the statistics, as they are. The others have no use without training.
void convert_batch_norm(NodeConversion& node) {
  const ProtoMessage* training = node.node().value("is_training");
  if (training == nullptr || node.node().is_set("is_training")) {
    node.fault = "it is for training; export the graph for inference, with is_training = false";
    return;
  }
  const std::optional<ImageOrder> order = image_order(node, node.shape(0).size());
  if (!order || node.operands.size() < 5) return;
  write_image(node, *order,
              {.type = "BatchNormalization",
               .inputs = {image_operand(node, 0, *order), node.operands[1], node.operands[2], node.operands[3],
                          node.operands[4]},
               .outputs = {},
               .attributes = {{"epsilon", node.node().real("epsilon", 1e-4F)}}});
  for (std::size_t at = 1; at < node.results.size(); ++at) {
    node.to.add(
        {.type = "Identity", .inputs = {node.operands[at == 1 || at == 3 ? 3 : 4]}, .outputs = {node.results[at]}});
  }
}

// Inputs: image, mean, variance, beta, gamma.
void convert_global_batch_norm(NodeConversion& node) {
  const std::optional<ImageOrder> order = image_order(node, node.shape(0).size());
  if (!order || node.operands.size() < 5) return;
  std::string gamma = node.operands[4];
  if (!node.node().is_set("scale_after_normalization")) {
    const Extents& channels = node.shape(4);
    gamma = node.make("Expand", {node.to.number(node.dtype(4), 1), node.to.integers(channels)});
  }
  write_image(node, *order,
              {.type = "BatchNormalization",
               .inputs = {image_operand(node, 0, *order), gamma, node.operands[3], node.operands[1], node.operands[2]},
               .outputs = {},
               .attributes = {{"epsilon", node.node().real("variance_epsilon", 0)}}});
}

// TensorFlow adds alpha times the squares, and ONNX their mean.
void convert_lrn(NodeConversion& node) {
  const std::optional<ImageOrder> order = image_order(node, node.shape(0).size());
  if (!order) return;
  const std::int64_t radius = node.node().integer("depth_radius", 5);
  if (radius < 0 || radius > (std::int64_t{1} << 30)) {
    node.fault = "its depth_radius " + std::to_string(radius) + " is out of range";
    return;
  }
  const std::int64_t size = 2 * radius + 1;
  write_image(node, *order,
              {.type = "LRN",
               .inputs = {image_operand(node, 0, *order)},
               .outputs = {},
               .attributes = {{"size", size},
                              {"alpha", node.node().real("alpha", 1) * static_cast<double>(size)},
                              {"beta", node.node().real("beta", 0.5)},
                              {"bias", node.node().real("bias", 1)}}});
}

}  // namespace lowtide::graphdef_internal
