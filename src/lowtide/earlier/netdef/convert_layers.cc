// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/op_conversion.h"
#include "lowtide/earlier/netdef/window_arguments.h"

namespace lowtide::netdef_internal {
namespace {

using List = std::vector<std::int64_t>;

// The axes of an image that a window moves over.
struct SpatialAxes {
  std::size_t first = 2;
  std::size_t count = 2;
};

// What an operator with a window has in ONNX.
struct WindowAttributes {
  List kernel;
  List strides;
  List dilations;
  List pads;  // of all begins, then of all ends
  [[nodiscard]] std::vector<Attribute> attributes(bool has_dilations) const {
    std::vector<Attribute> all = {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}};
    if (has_dilations) all.push_back({"dilations", dilations});
    return all;
  }
};

SpatialAxes spatial_axes(const OpConversion& op) {
  return {.first = op.is_last() ? std::size_t{1} : std::size_t{2}, .count = op.shape(0).size() - 2};
}

// `kernel` covers the axis with its dilation. With legacy_pad, the pad at the end is what the last window needs.
std::pair<std::int64_t, std::int64_t> pads_of_axis(const OpConversion& op, std::size_t at, const SpatialAxes& axes,
                                                   std::int64_t kernel, std::int64_t stride) {
  const std::int64_t given = op.shape(0)[axes.first + at];
  const std::int64_t made = op.result_shape()[axes.first + at];
  const std::int64_t needed = (made - 1) * stride + kernel - given;
  switch (op.op.integer("legacy_pad", 0)) {
    case legacy_pad::kValid: return {0, 0};
    case legacy_pad::kSame: {
      const std::int64_t all = std::max<std::int64_t>(needed, 0);
      return {all / 2, all - all / 2};
    }
    case legacy_pad::kCaffePooling: {
      const std::int64_t begin = pad_of(op.op, at, axes.count, false);
      return {begin, std::max<std::int64_t>(needed - begin, 0)};
    }
    default: return {pad_of(op.op, at, axes.count, false), pad_of(op.op, at, axes.count, true)};
  }
}

WindowAttributes window_attributes(const OpConversion& op, bool is_transposed) {
  const SpatialAxes axes = spatial_axes(op);
  WindowAttributes window{.kernel = {}, .strides = {}, .dilations = {}, .pads = List(2 * axes.count, 0)};
  for (std::size_t at = 0; at < axes.count; ++at) {
    window.kernel.push_back(of_axis(op.op, "kernel", at, axes.count, 1));
    window.strides.push_back(of_axis(op.op, "stride", at, axes.count, 1));
    window.dilations.push_back(of_axis(op.op, "dilation", at, axes.count, 1));
    const std::int64_t covered = (window.kernel[at] - 1) * window.dilations[at] + 1;
    const auto [begin, end] = is_transposed
                                  ? std::pair(pad_of(op.op, at, axes.count, false), pad_of(op.op, at, axes.count, true))
                                  : pads_of_axis(op, at, axes, covered, window.strides[at]);
    window.pads[at] = begin;
    window.pads[at + axes.count] = end;
  }
  return window;
}

bool has_operands(OpConversion& op, std::size_t least) {
  if (op.operands.size() >= least) return true;
  op.fault =
      "it has " + std::to_string(op.operands.size()) + " inputs, but its operator needs " + std::to_string(least);
  return false;
}

// An operand for each channel, as a tensor that broadcasts to an image.
std::string for_each_channel(OpConversion& op, std::size_t operand) {
  const std::size_t rank = op.shape(0).size();
  if (op.is_last() || rank < 3) return op.operands[operand];
  List extents(rank - 1, 1);
  extents.front() = op.shape(operand).empty() ? 1 : op.shape(operand).front();
  return op.reshaped(op.operands[operand], extents);
}

std::string bias_of(const OpConversion& op) { return op.operands.size() > 2 ? op.operands[2] : std::string(); }

std::vector<std::string> without_empty_end(std::vector<std::string> names) {
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

}  // namespace

void convert_conv_op(OpConversion& op) {
  if (!has_operands(op, 2) || !op.keeps_rank(3)) return;
  std::vector<Attribute> attributes = window_attributes(op, false).attributes(true);
  attributes.push_back({"group", op.op.integer("group", 1)});
  op.write_image({.type = "Conv",
                  .inputs = without_empty_end({op.image(0), op.image(1), bias_of(op)}),
                  .outputs = {},
                  .attributes = std::move(attributes)});
}

void convert_conv_transpose_op(OpConversion& op) {
  if (!has_operands(op, 2) || !op.keeps_rank(3)) return;
  std::vector<Attribute> attributes = window_attributes(op, true).attributes(false);
  List adjusted;
  const std::size_t count = spatial_axes(op).count;
  for (std::size_t at = 0; at < count; ++at) adjusted.push_back(of_axis(op.op, "adj", at, count, 0));
  attributes.push_back({"output_padding", adjusted});
  attributes.push_back({"group", op.op.integer("group", 1)});
  op.write_image({.type = "ConvTranspose",
                  .inputs = without_empty_end({op.image(0), op.image(1), bias_of(op)}),
                  .outputs = {},
                  .attributes = std::move(attributes)});
}

void convert_pool_op(OpConversion& op) {
  if (!op.keeps_rank(3)) return;
  const bool is_maximum = op.op.type().starts_with("Max");
  const bool is_global = op.op.integer("global_pooling", 0) != 0;
  if (is_global) {
    return op.write_image(
        {.type = is_maximum ? "GlobalMaxPool" : "GlobalAveragePool", .inputs = {op.image()}, .outputs = {}});
  }
  const WindowAttributes window = window_attributes(op, false);
  if (std::ranges::any_of(window.dilations, [](std::int64_t one) { return one != 1; })) {
    op.fault = "Caffe2 has no pools with a dilation";
    return;
  }
  std::vector<Attribute> attributes = window.attributes(false);
  if (!is_maximum) attributes.push_back({"count_include_pad", op.op.integer("count_include_pad", 0)});
  op.write_image({.type = is_maximum ? "MaxPool" : "AveragePool",
                  .inputs = {op.image()},
                  .outputs = {},
                  .attributes = std::move(attributes)});
}

// X [M, K], W [N, K], b [N], after both are made matrices at the axes `axis` and `axis_w`.
void convert_fc(OpConversion& op) {
  if (!has_operands(op, 3)) return;
  const auto axis = axis_of(op.op.integer("axis", 1), op.shape(0).size());
  const auto axis_w = axis_of(op.op.integer("axis_w", 1), op.shape(1).size());
  if (!axis || !axis_w) {
    op.fault = "it has no such axis";
    return;
  }
  const auto matrix = [&](std::size_t operand, std::size_t at) {
    const List& shape = op.shape(operand);
    if (shape.size() == 2 && at == 1) return op.operands[operand];
    const std::int64_t rows = product_of(shape, 0, at).value_or(0);
    return op.reshaped(op.operands[operand], {rows, product_of(shape, at, shape.size()).value_or(0)});
  };
  const std::vector<std::string> from = {matrix(0, *axis), matrix(1, *axis_w),
                                         op.shape(2).size() == 1 ? op.operands[2] : op.reshaped(op.operands[2], {-1})};
  const std::vector<Attribute> attributes = {{"transB", std::int64_t{1}}};
  if (op.result_shape().size() == 2) return op.write("Gemm", from, attributes);
  op.write_reshaped(op.make("Gemm", from, attributes));
}

// Also BatchMatMul. The last two axes may be in the other order.
void convert_mat_mul_op(OpConversion& op) {
  if (!has_operands(op, 2)) return;
  const auto operand = [&](std::size_t at, std::string_view argument) {
    const std::size_t rank = op.shape(at).size();
    if (op.op.integer(argument, 0) == 0 || rank < 2) return op.operands[at];
    List axes;
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    std::swap(axes[rank - 1], axes[rank - 2]);
    return op.make("Transpose", {op.operands[at]}, {{"perm", axes}});
  };
  op.write("MatMul", {operand(0, "trans_a"), operand(1, "trans_b")});
}

void convert_spatial_bn(OpConversion& op) {
  if (op.op.integer("is_test", 0) == 0) {
    op.fault = "it is for training; export the net for inference, with is_test = 1";
    return;
  }
  if (!has_operands(op, 5)) return;
  op.write_image({.type = "BatchNormalization",
                  .inputs = {op.image(), op.operands[1], op.operands[2], op.operands[3], op.operands[4]},
                  .outputs = {},
                  .attributes = {{"epsilon", op.real("epsilon", 1e-5F)}}});
}

void convert_instance_norm(OpConversion& op) {
  if (!has_operands(op, 3)) return;
  op.write_image({.type = "InstanceNormalization",
                  .inputs = {op.image(), op.operands[1], op.operands[2]},
                  .outputs = {},
                  .attributes = {{"epsilon", op.real("epsilon", 1e-5F)}}});
}

void convert_affine_channel(OpConversion& op) {
  if (!has_operands(op, 3)) return;
  op.write("Add", {op.make("Mul", {op.operands[0], for_each_channel(op, 1)}), for_each_channel(op, 2)});
}

void convert_lrn_op(OpConversion& op) {
  const std::int64_t size = op.op.integer("size", 0);
  if (size < 1 || size % 2 == 0) {
    op.fault = "its size " + std::to_string(size) + " is not an odd number";
    return;
  }
  op.write_image({.type = "LRN",
                  .inputs = {op.image()},
                  .outputs = {},
                  .attributes = {{"size", size},
                                 {"alpha", op.real("alpha", 0)},
                                 {"beta", op.real("beta", 0)},
                                 {"bias", op.real("bias", 1)}}});
}

void convert_dropout(OpConversion& op) {
  if (op.op.integer("is_test", 0) == 0) {
    op.fault = "it is random; export the net for inference, with is_test = 1";
    return;
  }
  op.write("Identity", {op.operands[0]});
}

// All axes from `axis` on are one.
void convert_softmax_op(OpConversion& op) {
  const List& shape = op.shape(0);
  const auto axis = axis_of(op.op.integer("axis", 1), shape.size());
  if (!axis) {
    op.fault = "it has no axis " + std::to_string(op.op.integer("axis", 1));
    return;
  }
  const std::vector<Attribute> last = {{"axis", std::int64_t{-1}}};
  if (*axis + 1 == shape.size()) return op.write("Softmax", {op.operands[0]}, last);
  const std::int64_t rows = product_of(shape, 0, *axis).value_or(0);
  const List matrix = {rows, product_of(shape, *axis, shape.size()).value_or(0)};
  op.write_reshaped(op.make("Softmax", {op.reshaped(op.operands[0], matrix)}, last));
}

void convert_normalize(OpConversion& op) {
  op.write("LpNormalization", {op.operands[0]}, {{"axis", op.op.integer("axis", -1)}, {"p", std::int64_t{2}}});
}

// Without the affine part, unless it has operands 1 and 2.
void convert_layer_norm(OpConversion& op) {
  const List& shape = op.shape(0);
  const auto axis = axis_of(op.op.integer("axis", 1), shape.size());
  if (!axis) {
    op.fault = "it has no such axis";
    return;
  }
  const List rest(shape.begin() + static_cast<std::ptrdiff_t>(*axis), shape.end());
  std::vector<std::string> from = {op.operands[0]};
  if (op.operands.size() >= 3) {
    from.insert(from.end(), {op.reshaped(op.operands[1], rest), op.reshaped(op.operands[2], rest)});
  } else {
    from.push_back(op.make("Expand", {op.to.number(op.dtype(), 1), op.to.integers(rest)}));
  }
  op.write("LayerNormalization", from,
           {{"axis", static_cast<std::int64_t>(*axis)}, {"epsilon", op.real("epsilon", 1e-5F)}});
}

}  // namespace lowtide::netdef_internal
