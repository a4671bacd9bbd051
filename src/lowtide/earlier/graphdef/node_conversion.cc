// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/node_conversion.h"

#include <algorithm>
#include <array>

#include "lowtide/base/quote.h"

namespace lowtide::graphdef_internal {
namespace {

struct Conversion {
  std::string_view op;
  ConvertNode convert;
};

// Sorted by operator.
// clang-format off
constexpr auto kConversions = std::to_array<Conversion>({
    {"Abs", convert_unary}, {"AccumulateNV2", convert_sum_of_all}, {"Acos", convert_unary}, {"Acosh", convert_unary},
    {"Add", convert_binary}, {"AddN", convert_sum_of_all}, {"AddV2", convert_binary}, {"All", convert_reduction},
    {"Any", convert_reduction}, {"ArgMax", convert_arg_reduction}, {"ArgMin", convert_arg_reduction},
    {"Asin", convert_unary}, {"Asinh", convert_unary}, {"Atan", convert_unary}, {"Atanh", convert_unary},
    {"AvgPool", convert_pool}, {"AvgPool3D", convert_pool}, {"BatchMatMul", convert_batch_mat_mul},
    {"BatchMatMulV2", convert_batch_mat_mul}, {"BatchMatMulV3", convert_batch_mat_mul},
    {"BatchNormWithGlobalNormalization", convert_global_batch_norm}, {"BatchToSpaceND", convert_batch_to_space},
    {"BiasAdd", convert_bias_add}, {"BiasAddV1", convert_bias_add}, {"BroadcastTo", convert_fill},
    {"Cast", convert_cast}, {"Ceil", convert_unary}, {"CheckNumerics", convert_identity},
    {"ClipByValue", convert_composed}, {"Concat", convert_concat}, {"ConcatV2", convert_concat},
    {"Conv2D", convert_conv}, {"Conv2DBackpropInput", convert_conv_transpose}, {"Conv3D", convert_conv},
    {"Cos", convert_unary}, {"Cosh", convert_unary}, {"Cumsum", convert_cumsum},
    {"DepthToSpace", convert_depth_to_space}, {"DepthwiseConv2dNative", convert_depthwise_conv},
    {"Div", convert_binary}, {"DivNoNan", convert_composed}, {"Einsum", convert_einsum}, {"Elu", convert_unary},
    {"EnsureShape", convert_identity}, {"Equal", convert_binary}, {"Erf", convert_unary}, {"Erfc", convert_composed},
    {"EuclideanNorm", convert_reduction}, {"Exp", convert_unary}, {"ExpandDims", convert_reshape},
    {"Expm1", convert_composed}, {"Fill", convert_fill}, {"Floor", convert_unary}, {"FloorDiv", convert_composed},
    {"FloorMod", convert_composed}, {"FusedBatchNorm", convert_batch_norm}, {"FusedBatchNormV2", convert_batch_norm},
    {"FusedBatchNormV3", convert_batch_norm}, {"Gather", convert_gather}, {"GatherNd", convert_gather_nd},
    {"GatherV2", convert_gather}, {"Greater", convert_binary}, {"GreaterEqual", convert_binary},
    {"Identity", convert_identity}, {"IdentityN", convert_identity}, {"Inv", convert_unary},
    {"IsFinite", convert_composed}, {"IsInf", convert_unary}, {"IsNan", convert_unary}, {"LRN", convert_lrn},
    {"LeakyRelu", convert_unary}, {"Less", convert_binary}, {"LessEqual", convert_binary}, {"Log", convert_unary},
    {"Log1p", convert_composed}, {"LogSoftmax", convert_softmax}, {"LogicalAnd", convert_binary},
    {"LogicalNot", convert_unary}, {"LogicalOr", convert_binary}, {"MatMul", convert_mat_mul},
    {"Max", convert_reduction}, {"MaxPool", convert_pool}, {"MaxPool3D", convert_pool}, {"MaxPoolV2", convert_pool},
    {"Maximum", convert_binary}, {"Mean", convert_reduction}, {"Min", convert_reduction}, {"Minimum", convert_binary},
    {"MirrorPad", convert_mirror_pad}, {"Mod", convert_composed}, {"Mul", convert_binary},
    {"MulNoNan", convert_composed}, {"Neg", convert_unary}, {"NotEqual", convert_composed},
    {"OneHot", convert_one_hot}, {"OnesLike", convert_like}, {"Pack", convert_pack}, {"Pad", convert_pad},
    {"PadV2", convert_pad}, {"PlaceholderWithDefault", convert_identity}, {"Pow", convert_binary},
    {"PreventGradient", convert_identity}, {"Prod", convert_reduction}, {"Range", convert_range},
    {"RealDiv", convert_binary}, {"Reciprocal", convert_unary}, {"Relu", convert_unary}, {"Relu6", convert_composed},
    {"Reshape", convert_reshape}, {"ResizeBilinear", convert_resize_bilinear},
    {"ResizeNearestNeighbor", convert_resize_nearest}, {"ReverseV2", convert_reverse}, {"Rint", convert_unary},
    {"Round", convert_unary}, {"Rsqrt", convert_composed}, {"Select", convert_select}, {"SelectV2", convert_select},
    {"Selu", convert_unary}, {"Sigmoid", convert_unary}, {"Sign", convert_unary}, {"Sin", convert_unary},
    {"Sinh", convert_unary}, {"Slice", convert_slice}, {"Snapshot", convert_identity}, {"Softmax", convert_softmax},
    {"Softplus", convert_unary}, {"Softsign", convert_unary}, {"SpaceToBatchND", convert_space_to_batch},
    {"SpaceToDepth", convert_depth_to_space}, {"Split", convert_split}, {"SplitV", convert_split},
    {"Sqrt", convert_unary}, {"Square", convert_composed}, {"SquaredDifference", convert_composed},
    {"Squeeze", convert_reshape}, {"StopGradient", convert_identity}, {"StridedSlice", convert_slice},
    {"Sub", convert_binary}, {"Sum", convert_reduction}, {"Tan", convert_unary}, {"Tanh", convert_unary},
    {"Tile", convert_tile}, {"TopKV2", convert_top_k}, {"Transpose", convert_transpose},
    {"TruncateDiv", convert_composed}, {"TruncateMod", convert_composed}, {"Unpack", convert_unpack},
    {"ZerosLike", convert_like},
});
// clang-format on
static_assert(std::is_sorted(kConversions.begin(), kConversions.end(),
                             [](const Conversion& a, const Conversion& b) { return a.op < b.op; }));

}  // namespace

ConvertNode conversion_of(std::string_view op) {
  const auto* found = std::lower_bound(kConversions.begin(), kConversions.end(), op,
                                       [](const Conversion& one, std::string_view wanted) { return one.op < wanted; });
  return found != kConversions.end() && found->op == op ? found->convert : nullptr;
}

const Extents* NodeConversion::known(std::size_t operand, std::string_view what) {
  const Extents* content = types.content(operand);
  if (content == nullptr) {
    fault = "its " + std::string(what) + " must be constant, and " +
            (operand < operands.size() ? "input " + std::to_string(operand) + " is not" : "are missing");
  }
  return content;
}

std::string operand_first(NodeConversion& node, std::size_t operand) {
  const Extents& shape = node.shape(operand);
  const std::size_t rank = node.result_shape().size();
  if (shape.empty() || shape.size() > rank) return node.operands[operand];
  if (shape.size() == rank) return node.to.channels_first(node.operands[operand], rank);
  if (shape.size() == 1) {
    Extents of_channels(rank - 1, 1);
    of_channels.front() = shape.front();
    return node.reshaped(node.operands[operand], of_channels);
  }
  Extents whole(rank - shape.size(), 1);
  whole.insert(whole.end(), shape.begin(), shape.end());
  return node.to.channels_first(node.reshaped(node.operands[operand], whole), rank);
}

AlignedOperands align_operands(NodeConversion& node) {
  AlignedOperands aligned{.has_channels_first = false, .names = node.operands};
  const std::size_t rank = node.result_shape().size();
  for (std::size_t at = 0; at < node.operands.size(); ++at) {
    const bool is_whole = node.shape(at).size() == rank && rank >= 3;
    if (is_whole && node.to.has_channels_first(node.operands[at])) aligned.has_channels_first = true;
  }
  if (!aligned.has_channels_first) return aligned;
  for (std::size_t at = 0; at < node.operands.size(); ++at) aligned.names[at] = operand_first(node, at);
  return aligned;
}

void write_aligned(NodeConversion& node, bool has_channels_first, OnnxNode last) {
  last.outputs = {node.results[0]};
  if (!has_channels_first) return node.to.add(std::move(last));
  const std::string first = node.to.make(node.results[0] + "/channels_first", std::move(last));
  node.to.channels_last(first, node.result_shape().size(), node.results[0]);
}

bool may_make(NodeConversion& node, std::int64_t count) {
  if (node.to.may_make(count)) return true;
  node.fault = "it needs a list of " + std::to_string(count) +
               " numbers, and all lists that are not in the file may have " + std::to_string(kMostMadeBytes) + " bytes";
  return false;
}

void write_reshaped(NodeConversion& node) { write_reshaped(node, node.operands[0]); }

void write_reshaped(NodeConversion& node, const std::string& name) {
  node.write("Reshape", {name, node.to.integers(node.result_shape())}, {{"allowzero", std::int64_t{1}}});
}

}  // namespace lowtide::graphdef_internal
