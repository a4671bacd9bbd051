// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro/cmsis_scratch.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/checked.h"

namespace lowtide::micro_internal {
namespace {

constexpr std::int64_t kReverseChannels = 16;  // above, a transposed convolution runs as a convolution

// An image, NHWC.
struct Image {
  std::int64_t batch;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
};

std::optional<Image> image_of(const TfliteSubgraph& subgraph, const std::vector<std::optional<std::uint32_t>>& of,
                              std::size_t at) {
  if (at >= of.size() || !of[at] || subgraph.tensors[*of[at]].shape.size() != 4) return std::nullopt;
  const std::vector<std::int64_t>& shape = subgraph.tensors[*of[at]].shape;
  return Image{shape[0], shape[1], shape[2], shape[3]};
}

TfliteType type_of(const TfliteSubgraph& subgraph, const TfliteOperator& op, std::size_t at) {
  return at < op.inputs.size() && op.inputs[at] ? subgraph.tensors[*op.inputs[at]].type : TfliteType::float32;
}

std::int64_t option(const TfliteOperator& op, std::string_view name, std::int64_t otherwise) {
  const auto* value = find_option<std::int64_t>(op, name);
  return value != nullptr ? *value : otherwise;
}

CmsisRequests known(std::optional<std::int64_t> size) {
  if (!size) return {.is_reference = false, .sizes = std::nullopt};
  if (*size == 0) return {.is_reference = false, .sizes = std::vector<std::int64_t>()};
  return {.is_reference = false, .sizes = std::vector<std::int64_t>{*size}};
}

std::optional<std::int64_t> product(std::initializer_list<std::int64_t> factors) {
  std::optional<std::int64_t> all = 1;
  for (std::int64_t factor : factors) {
    if (all) all = checked_multiply(*all, factor);
  }
  return all;
}

// The padding in front of an axis.
std::int64_t padding_before(const TfliteOperator& op, const char* letter, std::int64_t from, std::int64_t taps,
                            std::int64_t to) {
  const auto* padding = find_option<std::string>(op, "padding");
  if (padding == nullptr || *padding != "SAME") return 0;
  const std::int64_t stride = option(op, std::string("stride_") + letter, 1);
  const std::int64_t dilation = option(op, std::string("dilation_") + letter + "_factor", 1);
  return std::max<std::int64_t>(0, (to - 1) * stride + (taps - 1) * dilation + 1 - from) / 2;
}

// Two columns of the image matrix in 16 bits, each a multiple of 4 elements.
std::optional<std::int64_t> two_columns(const Image& filter, std::int64_t channels) {
  const std::optional<std::int64_t> column = product({filter.width, filter.height, channels});
  if (!column) return std::nullopt;
  const std::optional<std::int64_t> padded = checked_add(*column, 3);
  return padded ? checked_multiply(*padded / 4 * 4, 4) : std::nullopt;
}

CmsisRequests convolution(const TfliteOperator& op, const Image& from, const Image& filter, const Image& to) {
  const bool is_padded = padding_before(op, "h", from.height, filter.height, to.height) > 0 ||
                         padding_before(op, "w", from.width, filter.width, to.width) > 0;
  const bool is_product = !is_padded && filter.height == 1 && filter.width == 1 && from.channels == filter.channels &&
                          option(op, "dilation_w_factor", 1) == 1 && option(op, "dilation_h_factor", 1) == 1;
  return known(is_product ? std::optional<std::int64_t>(0) : two_columns(filter, from.channels));
}

CmsisRequests depthwise(const TfliteOperator& op, const Image& from, const Image& filter, const Image& to) {
  const bool is_fast = from.channels == to.channels && from.batch == 1 && option(op, "dilation_w_factor", 1) == 1 &&
                       option(op, "dilation_h_factor", 1) == 1;
  const bool is_three = filter.width == 3 && filter.height == 3 &&
                        padding_before(op, "h", from.height, 3, to.height) <= 1 &&
                        padding_before(op, "w", from.width, 3, to.width) <= 1;
  if (!is_fast || is_three) return known(0);
  return known(product({from.channels, filter.width, filter.height, 2}));
}

CmsisRequests transposed(const TfliteOperator& op, const Image& from, const Image& filter, const Image& to) {
  const std::int64_t stride_w = option(op, "stride_w", 1);
  const std::int64_t stride_h = option(op, "stride_h", 1);
  if (stride_w <= 2 && stride_h <= 2 && from.channels > kReverseChannels) {
    const std::optional<std::int64_t> columns = two_columns(filter, from.channels);
    const std::optional<std::int64_t> turned = product({from.channels, filter.width, filter.height, filter.batch});
    if (!columns || !turned) return known(std::nullopt);
    return {.is_reference = false, .sizes = std::vector<std::int64_t>{*columns, *turned}};
  }
  const std::optional<std::int64_t> width = product({from.width - 1, stride_w});
  const std::optional<std::int64_t> wide = width ? checked_add(*width, std::max(filter.width, stride_h)) : std::nullopt;
  return known(wide ? product({*wide, to.channels, std::max(filter.height, stride_h), 4}) : std::nullopt);
}

// A product over more than two axes runs as a convolution, which needs a scale per channel.
CmsisRequests fully_connected(const TfliteSubgraph& subgraph, const TfliteOperator& op) {
  const bool is_complete = op.inputs.size() > 1 && op.inputs[1] && !op.outputs.empty() && op.outputs[0];
  if (!is_complete) return known(0);
  const TfliteTensor& filter = subgraph.tensors[*op.inputs[1]];
  const TfliteTensor& to = subgraph.tensors[*op.outputs[0]];
  const bool is_convolution = to.shape.size() > 2 && !filter.shape.empty() && filter.shape.back() % 4 == 0;
  if (!is_convolution || filter.quantization.scales.size() > 1) return known(0);
  return known(product({to.shape.back(), 4, 2}));
}

}  // namespace

CmsisRequests cmsis_requests(const TfliteSubgraph& subgraph, const TfliteOperator& op) {
  CmsisRequests reference{.is_reference = true, .sizes = std::nullopt};
  const bool has_filter = op.type != "AVERAGE_POOL_2D";
  const std::size_t image = op.type == "TRANSPOSE_CONV" ? 2 : 0;
  const bool is_windowed = op.type == "CONV_2D" || op.type == "DEPTHWISE_CONV_2D" || op.type == "TRANSPOSE_CONV" ||
                           op.type == "AVERAGE_POOL_2D";
  const bool has_own = is_windowed || op.type == "FULLY_CONNECTED" || op.type == "BATCH_MATMUL" ||
                       op.type == "UNIDIRECTIONAL_SEQUENCE_LSTM";
  const TfliteType type = type_of(subgraph, op, image);
  if (!has_own || type == TfliteType::float32) return reference;
  const bool is_byte = type == TfliteType::int8 && (!has_filter || type_of(subgraph, op, 1) == TfliteType::int8);
  if (!is_byte || op.type == "BATCH_MATMUL" || op.type == "UNIDIRECTIONAL_SEQUENCE_LSTM") return known(std::nullopt);
  if (op.type == "FULLY_CONNECTED") return fully_connected(subgraph, op);
  const std::optional<Image> from = image_of(subgraph, op.inputs, image);
  const std::optional<Image> to = image_of(subgraph, op.outputs, 0);
  if (op.type == "AVERAGE_POOL_2D") return known(from ? product({from->channels, 4}) : std::nullopt);
  const std::optional<Image> filter = image_of(subgraph, op.inputs, 1);
  if (!from || !to || !filter) return known(std::nullopt);
  if (op.type == "CONV_2D") return convolution(op, *from, *filter, *to);
  if (op.type == "DEPTHWISE_CONV_2D") return depthwise(op, *from, *filter, *to);
  return transposed(op, *from, *filter, *to);
}

}  // namespace lowtide::micro_internal
