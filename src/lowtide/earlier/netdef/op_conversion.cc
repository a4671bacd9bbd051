// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/op_conversion.h"

#include <algorithm>
#include <array>
#include <optional>

#include "lowtide/base/quote.h"
#include "lowtide/earlier/netdef/argument_number.h"

namespace lowtide::netdef_internal {
namespace {

struct OpConverter {
  std::string_view type;
  ConvertOp convert;
};

// Sorted by type.
// clang-format off
constexpr auto kConverters = std::to_array<OpConverter>({
    {"Abs", convert_same_name}, {"Add", convert_arithmetic}, {"AffineChannel", convert_affine_channel},
    {"Alias", convert_copy}, {"And", convert_arithmetic}, {"ArgMax", convert_arg_op}, {"ArgMin", convert_arg_op},
    {"AveragePool", convert_pool_op}, {"AveragePool1D", convert_pool_op}, {"AveragePool2D", convert_pool_op},
    {"AveragePool3D", convert_pool_op}, {"BatchMatMul", convert_mat_mul_op}, {"Cast", convert_cast_op},
    {"Ceil", convert_same_name}, {"ChannelShuffle", convert_channel_shuffle}, {"Clip", convert_clip},
    {"Concat", convert_concat_op}, {"ConstantFill", convert_constant_fill}, {"Conv", convert_conv_op},
    {"Conv1D", convert_conv_op}, {"Conv2D", convert_conv_op}, {"Conv3D", convert_conv_op},
    {"ConvTranspose", convert_conv_transpose_op}, {"Copy", convert_copy}, {"CopyCPUToGPU", convert_copy},
    {"CopyFromCPUInput", convert_copy}, {"CopyGPUToCPU", convert_copy}, {"CopyGPUToGPU", convert_copy},
    {"Cos", convert_same_name}, {"Div", convert_arithmetic}, {"Dropout", convert_dropout}, {"EQ", convert_arithmetic},
    {"Elu", convert_same_name}, {"EnsureCPUOutput", convert_copy}, {"Exp", convert_same_name},
    {"ExpandDims", convert_to_shape}, {"FC", convert_fc}, {"Flatten", convert_to_shape},
    {"FlattenToVec", convert_to_shape}, {"Floor", convert_same_name}, {"GE", convert_arithmetic},
    {"GT", convert_arithmetic}, {"Gather", convert_gather_op}, {"GivenTensorBoolFill", convert_given_fill},
    {"GivenTensorByteStringToUInt8Fill", convert_given_fill}, {"GivenTensorDoubleFill", convert_given_fill},
    {"GivenTensorFill", convert_given_fill}, {"GivenTensorInt64Fill", convert_given_fill},
    {"GivenTensorIntFill", convert_given_fill}, {"InstanceNorm", convert_instance_norm}, {"LE", convert_arithmetic},
    {"LRN", convert_lrn_op}, {"LT", convert_arithmetic}, {"LayerNorm", convert_layer_norm},
    {"LeakyRelu", convert_same_name}, {"Log", convert_same_name}, {"MatMul", convert_mat_mul_op},
    {"Max", convert_same_name}, {"MaxPool", convert_pool_op}, {"MaxPool1D", convert_pool_op},
    {"MaxPool2D", convert_pool_op}, {"MaxPool3D", convert_pool_op}, {"Mean", convert_same_name},
    {"Min", convert_same_name}, {"Mul", convert_arithmetic}, {"NCHW2NHWC", convert_transpose_op},
    {"NE", convert_arithmetic}, {"NHWC2NCHW", convert_transpose_op}, {"Negative", convert_same_name},
    {"Normalize", convert_normalize}, {"Not", convert_same_name}, {"Or", convert_arithmetic},
    {"PRelu", convert_prelu}, {"PadImage", convert_pad_image}, {"Pow", convert_arithmetic},
    {"ReduceL1", convert_reduce}, {"ReduceL2", convert_reduce}, {"ReduceMax", convert_reduce},
    {"ReduceMean", convert_reduce}, {"ReduceMin", convert_reduce}, {"ReduceSum", convert_reduce},
    {"Relu", convert_same_name}, {"Reshape", convert_to_shape}, {"ResizeNearest", convert_resize_op},
    {"Rsqrt", convert_composed_op}, {"Scale", convert_composed_op}, {"Selu", convert_same_name},
    {"Shape", convert_shape_op}, {"Sigmoid", convert_same_name}, {"Sign", convert_same_name},
    {"Sin", convert_same_name}, {"Slice", convert_slice_op}, {"Softmax", convert_softmax_op},
    {"Softplus", convert_same_name}, {"Softsign", convert_same_name}, {"SpatialBN", convert_spatial_bn},
    {"Split", convert_split_op}, {"Sqr", convert_composed_op}, {"Sqrt", convert_same_name},
    {"Squeeze", convert_to_shape}, {"StopGradient", convert_copy}, {"Sub", convert_arithmetic},
    {"Sum", convert_same_name}, {"Swish", convert_composed_op}, {"Tanh", convert_same_name},
    {"Tile", convert_tile_op}, {"TopK", convert_top_k_op}, {"Transpose", convert_transpose_op},
    {"UpsampleBilinear", convert_resize_op}, {"UpsampleNearest", convert_resize_op},
    {"WeightedSum", convert_weighted_sum}, {"Xor", convert_arithmetic},
});
// clang-format on
static_assert(std::is_sorted(kConverters.begin(), kConverters.end(),
                             [](const OpConverter& a, const OpConverter& b) { return a.type < b.type; }));

}  // namespace

ConvertOp conversion_of_op(std::string_view type) {
  const auto* found =
      std::lower_bound(kConverters.begin(), kConverters.end(), type,
                       [](const OpConverter& one, std::string_view wanted) { return one.type < wanted; });
  return found != kConverters.end() && found->type == type ? found->convert : nullptr;
}

double OpConversion::real(std::string_view argument, double otherwise) {
  const ProtoMessage* found = op.argument(argument);
  if (found != nullptr && !number_of_argument(*found)) fault = "its argument " + quoted(argument, 60) + " is no number";
  return op.real(argument, otherwise);
}

std::string OpConversion::number(std::string_view argument, std::int64_t otherwise, DType dtype) {
  const ProtoMessage* found = op.argument(argument);
  const auto given = found == nullptr ? std::optional<ArgumentNumber>(otherwise) : number_of_argument(*found);
  const auto bytes = given ? bytes_of_number(*given, dtype) : std::nullopt;
  if (bytes) return to.scalar(dtype, *bytes);
  fault = "its argument " + quoted(argument, 60) + " is " +
          (given ? shown_number(*given) + ", which is not a value of " + std::string(to_string(dtype)) : "no number");
  return "";
}

bool OpConversion::keeps_rank(std::size_t least) {
  if (shape().size() >= least && shape().size() == result_shape().size()) return true;
  fault = "its input has " + std::to_string(shape().size()) + " axes, and its output " +
          std::to_string(result_shape().size());
  return false;
}

void OpConversion::write_image(OnnxNode node) {
  if (!is_last() || result_shape().size() < 3) {
    node.outputs = {results[0]};
    return to.add(std::move(node));
  }
  const std::string first = to.make(results[0] + "/channels_first", std::move(node));
  to.channels_last(first, result_shape().size(), results[0]);
}

}  // namespace lowtide::netdef_internal
