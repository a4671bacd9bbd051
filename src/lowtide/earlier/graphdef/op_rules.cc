// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/op_rules.h"

#include <algorithm>
#include <array>

#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

void infer_same(NodeTypes& types) {
  if (types.extents(0) != nullptr) types.set(0, *types.extents(0));
}

// The shape of another input than the first.
template <std::size_t kInput>
void infer_like(NodeTypes& types) {
  if (types.extents(kInput) != nullptr) types.set(0, *types.extents(kInput));
}

// Each output is an input.
void infer_each(NodeTypes& types) {
  for (std::size_t at = 0; at < types.outputs.size(); ++at) {
    types.outputs[at].dtype = at < types.inputs.size() ? types.inputs[at]->dtype : std::nullopt;
    if (types.extents(at) != nullptr) types.set(at, *types.extents(at));
  }
}

void infer_scalar(NodeTypes& types) { types.set(0, {}); }

// The shape is the content of an input.
template <std::size_t kInput>
void infer_given(NodeTypes& types) {
  if (const Extents* partial = types.partial(kInput)) return types.set(0, *partial);
  const Extents* given = types.content(kInput);
  if (given == nullptr || std::ranges::any_of(*given, [](std::int64_t one) { return one < 0; })) return;
  types.set(0, *given);
}

// y, and statistics of the channels. FusedBatchNormV3 also has bytes for the gradient, of which a CPU needs none.
void infer_batch_norm(NodeTypes& types) {
  infer_same(types);
  for (std::size_t at = 1; at < types.outputs.size(); ++at) {
    if (at < 5 && types.extents(1) != nullptr) types.set(at, *types.extents(1));
    if (at == 5) types.set(at, {0});
    types.outputs[at].dtype = DType::f32;
  }
}

// Gradients of x, scale and offset, and two that are empty.
void infer_batch_norm_grad(NodeTypes& types) {
  if (types.extents(1) != nullptr) types.set(0, *types.extents(1));
  for (std::size_t at = 1; at < types.outputs.size(); ++at) {
    if (at < 3 && types.extents(2) != nullptr) types.set(at, *types.extents(2));
    if (at == 3 || at == 4) types.set(at, {0});
    types.outputs[at].dtype = DType::f32;
  }
}

// Gradients of x and of the mean, the variance, the offset and the scale.
void infer_global_norm_grad(NodeTypes& types) {
  infer_same(types);
  for (std::size_t at = 1; at < types.outputs.size(); ++at) {
    if (at < 5 && types.extents(1) != nullptr) types.set(at, *types.extents(1));
  }
}

// Gradients of x, and of the least and the largest number.
void infer_fake_quant_grad(NodeTypes& types) {
  infer_same(types);
  for (std::size_t at = 1; at < std::min<std::size_t>(types.outputs.size(), 3); ++at) types.set(at, {});
}

void infer_bias_grad(NodeTypes& types) {
  const Extents* gradient = types.extents(0);
  if (gradient == nullptr || gradient->empty()) return;
  const bool is_first = types.node.text("data_format", "NHWC") == "NCHW" && gradient->size() > 1;
  types.set(0, {is_first ? (*gradient)[1] : gradient->back()});
}

// The loss of each row, and the gradient.
void infer_cross_entropy(NodeTypes& types) {
  const Extents* logits = types.extents(0);
  if (logits == nullptr || logits->size() != 2) return;
  types.set(0, {logits->front()});
  types.set(1, *logits);
}

void infer_attribute(NodeTypes& types) {
  const ProtoMessage* shape = types.node.value("shape");
  if (shape != nullptr) shape = find_message(*shape, value_field::kShape);
  const std::optional<Extents> extents = shape == nullptr ? std::nullopt : extents_of(*shape);
  if (extents) types.set(0, *extents);
}

// The node checks that its input has a shape.
void infer_ensured(NodeTypes& types) {
  infer_attribute(types);
  if (!types.outputs.empty() && !types.outputs[0].extents) infer_same(types);
}

// The value, in one of two branches.
void infer_switch(NodeTypes& types) {
  for (std::size_t at = 0; at < types.outputs.size() && types.extents(0) != nullptr; ++at) {
    types.set(at, *types.extents(0));
  }
}

// The input that has a value, and which one it is.
void infer_merge(NodeTypes& types) {
  types.set(1, {});
  if (types.outputs.size() > 1) types.outputs[1].dtype = DType::i32;
  for (std::size_t at = 0; at < types.inputs.size(); ++at) {
    if (types.extents(at) == nullptr || *types.extents(at) != *types.extents(0)) return;
  }
  if (!types.inputs.empty()) types.set(0, *types.extents(0));
}

// Begin, end and count.
void infer_lin_space(NodeTypes& types) {
  const std::optional<std::int64_t> count = types.number(2);
  if (count && *count >= 0) types.set(0, {*count});
}

// Weights of classes in rows, and the number of samples of each row.
void infer_samples(NodeTypes& types) {
  const std::optional<std::int64_t> count = types.number(1);
  if (types.extents(0) == nullptr || types.extents(0)->size() != 2 || !count || *count < 0) return;
  types.set(0, {types.extents(0)->front(), *count});
}

constexpr std::string_view kAlways;  // no attribute says the type

struct Rule {
  std::string_view op;
  void (*infer)(NodeTypes& types);
  std::string_view type = "T";                    // the attribute with the type of the outputs
  std::optional<DType> otherwise = std::nullopt;  // the type without the attribute
};

// Sorted by operator.
// clang-format off
constexpr auto kRules = std::to_array<Rule>({
    {"Abs", infer_same}, {"AccumulateNV2", infer_add_n}, {"Acos", infer_same}, {"Acosh", infer_same},
    {"Add", infer_broadcast}, {"AddN", infer_add_n}, {"AddV2", infer_broadcast},
    {"All", infer_reduce, kAlways, DType::boolean}, {"Any", infer_reduce, kAlways, DType::boolean},
    {"ApproximateEqual", infer_broadcast, kAlways, DType::boolean},
    {"ArgMax", infer_arg_reduce, "output_type", DType::i64}, {"ArgMin", infer_arg_reduce, "output_type", DType::i64},
    {"Asin", infer_same}, {"Asinh", infer_same}, {"Atan", infer_same}, {"Atan2", infer_broadcast},
    {"Atanh", infer_same}, {"AvgPool", infer_pool}, {"AvgPool3D", infer_pool}, {"AvgPool3DGrad", infer_given<0>},
    {"AvgPoolGrad", infer_given<0>}, {"BatchMatMul", infer_batch_mat_mul}, {"BatchMatMulV2", infer_batch_mat_mul},
    {"BatchMatMulV3", infer_batch_mat_mul, "Tout"}, {"BatchNormWithGlobalNormalization", infer_same},
    {"BatchNormWithGlobalNormalizationGrad", infer_global_norm_grad}, {"BatchToSpaceND", infer_batch_to_space},
    {"BiasAdd", infer_same}, {"BiasAddGrad", infer_bias_grad}, {"BiasAddV1", infer_same},
    {"Bitcast", infer_bitcast, "type"}, {"BitwiseAnd", infer_broadcast}, {"BitwiseOr", infer_broadcast},
    {"BitwiseXor", infer_broadcast}, {"BroadcastGradientArgs", infer_broadcast_gradient, "T", DType::i32},
    {"BroadcastTo", infer_given<1>}, {"Cast", infer_same, "DstT"}, {"Ceil", infer_same},
    {"CheckNumerics", infer_same}, {"ClipByValue", infer_same}, {"Concat", infer_concat_first},
    {"ConcatOffset", infer_concat_offset, "shape_type", DType::i32}, {"ConcatV2", infer_concat},
    {"Conv2D", infer_conv}, {"Conv2DBackpropFilter", infer_given<1>}, {"Conv2DBackpropFilterV2", infer_like<1>},
    {"Conv2DBackpropInput", infer_given<0>}, {"Conv2DBackpropInputV2", infer_same}, {"Conv3D", infer_conv},
    {"Conv3DBackpropFilter", infer_like<1>}, {"Conv3DBackpropFilterV2", infer_given<1>},
    {"Conv3DBackpropInput", infer_like<0>}, {"Conv3DBackpropInputV2", infer_given<0>}, {"Cos", infer_same},
    {"Cosh", infer_same}, {"CropAndResize", infer_crop_and_resize, kAlways, DType::f32}, {"Cumprod", infer_same},
    {"Cumsum", infer_same}, {"DeepCopy", infer_same}, {"DepthToSpace", infer_depth_to_space},
    {"DepthwiseConv2dNative", infer_depthwise}, {"DepthwiseConv2dNativeBackpropFilter", infer_given<1>},
    {"DepthwiseConv2dNativeBackpropInput", infer_given<0>}, {"Digamma", infer_same}, {"Div", infer_broadcast},
    {"DivNoNan", infer_broadcast}, {"DynamicStitch", infer_dynamic_stitch}, {"Einsum", infer_einsum},
    {"Elu", infer_same},
    {"EluGrad", infer_same}, {"Empty", infer_given<0>, "dtype"}, {"EnsureShape", infer_ensured},
    {"Equal", infer_broadcast, kAlways, DType::boolean}, {"Erf", infer_same}, {"Erfc", infer_same},
    {"Erfinv", infer_same}, {"EuclideanNorm", infer_reduce}, {"Exp", infer_same}, {"ExpandDims", infer_expand_dims},
    {"Expm1", infer_same}, {"ExtractImagePatches", infer_image_patches},
    {"FakeQuantWithMinMaxArgs", infer_same, kAlways, DType::f32},
    {"FakeQuantWithMinMaxArgsGradient", infer_same, kAlways, DType::f32},
    {"FakeQuantWithMinMaxVars", infer_same, kAlways, DType::f32},
    {"FakeQuantWithMinMaxVarsGradient", infer_fake_quant_grad, kAlways, DType::f32},
    {"FakeQuantWithMinMaxVarsPerChannel", infer_same, kAlways, DType::f32}, {"Fill", infer_given<0>},
    {"Floor", infer_same}, {"FloorDiv", infer_broadcast}, {"FloorMod", infer_broadcast},
    {"FusedBatchNorm", infer_batch_norm}, {"FusedBatchNormGrad", infer_batch_norm_grad},
    {"FusedBatchNormGradV2", infer_batch_norm_grad}, {"FusedBatchNormGradV3", infer_batch_norm_grad},
    {"FusedBatchNormV2", infer_batch_norm}, {"FusedBatchNormV3", infer_batch_norm},
    {"Gather", infer_gather, "Tparams"}, {"GatherNd", infer_gather_nd, "Tparams"},
    {"GatherV2", infer_gather, "Tparams"}, {"Greater", infer_broadcast, kAlways, DType::boolean},
    {"GreaterEqual", infer_broadcast, kAlways, DType::boolean}, {"Identity", infer_same}, {"IdentityN", infer_each},
    {"InTopK", infer_like<1>, kAlways, DType::boolean}, {"InTopKV2", infer_like<1>, kAlways, DType::boolean},
    {"Inv", infer_same}, {"InvGrad", infer_same}, {"Invert", infer_same},
    {"InvertPermutation", infer_same, "T", DType::i32}, {"IsFinite", infer_same, kAlways, DType::boolean},
    {"IsInf", infer_same, kAlways, DType::boolean}, {"IsNan", infer_same, kAlways, DType::boolean},
    {"IsVariableInitialized", infer_scalar, kAlways, DType::boolean}, {"L2Loss", infer_scalar}, {"LRN", infer_same},
    {"LRNGrad", infer_same}, {"LeakyRelu", infer_same}, {"LeakyReluGrad", infer_same}, {"LeftShift", infer_broadcast},
    {"Less", infer_broadcast, kAlways, DType::boolean}, {"LessEqual", infer_broadcast, kAlways, DType::boolean},
    {"Lgamma", infer_same}, {"LinSpace", infer_lin_space}, {"ListDiff", infer_list_difference}, {"Log", infer_same},
    {"Log1p", infer_same}, {"LogSoftmax", infer_same}, {"LogicalAnd", infer_broadcast, kAlways, DType::boolean},
    {"LogicalNot", infer_same, kAlways, DType::boolean}, {"LogicalOr", infer_broadcast, kAlways, DType::boolean},
    {"MatMul", infer_mat_mul}, {"MatrixBandPart", infer_same}, {"Max", infer_reduce}, {"MaxPool", infer_pool},
    {"MaxPool3D", infer_pool}, {"MaxPool3DGrad", infer_same}, {"MaxPool3DGradGrad", infer_like<1>},
    {"MaxPoolGrad", infer_same}, {"MaxPoolGradGrad", infer_like<1>}, {"MaxPoolGradV2", infer_same},
    {"MaxPoolGradWithArgmax", infer_same}, {"MaxPoolV2", infer_pool}, {"MaxPoolWithArgmax", infer_pool_with_argmax},
    {"Maximum", infer_broadcast}, {"Mean", infer_reduce}, {"Merge", infer_merge}, {"Min", infer_reduce},
    {"Minimum", infer_broadcast}, {"MirrorPad", infer_pad}, {"MirrorPadGrad", infer_pad_grad},
    {"Mod", infer_broadcast}, {"Mul", infer_broadcast}, {"MulNoNan", infer_broadcast},
    {"Multinomial", infer_samples, "output_dtype", DType::i64}, {"Neg", infer_same},
    {"NotEqual", infer_broadcast, kAlways, DType::boolean}, {"OneHot", infer_one_hot}, {"OnesLike", infer_same},
    {"Pack", infer_pack}, {"Pad", infer_pad}, {"PadV2", infer_pad},
    {"PlaceholderWithDefault", infer_attribute, "dtype"}, {"Pow", infer_broadcast}, {"PreventGradient", infer_same},
    {"Prod", infer_reduce}, {"QuantizeAndDequantizeV2", infer_same}, {"RandomShuffle", infer_same},
    {"RandomStandardNormal", infer_given<0>, "dtype"}, {"RandomUniform", infer_given<0>, "dtype"},
    {"RandomUniformInt", infer_given<0>, "Tout"}, {"Range", infer_range, "Tidx", DType::i32},
    {"Rank", infer_scalar, kAlways, DType::i32}, {"RealDiv", infer_broadcast}, {"Reciprocal", infer_same},
    {"ReciprocalGrad", infer_same}, {"Relu", infer_same}, {"Relu6", infer_same}, {"Relu6Grad", infer_same},
    {"ReluGrad", infer_same}, {"Reshape", infer_reshape}, {"ResizeArea", infer_resize, kAlways, DType::f32},
    {"ResizeBicubic", infer_resize, kAlways, DType::f32}, {"ResizeBicubicGrad", infer_like<1>},
    {"ResizeBilinear", infer_resize, kAlways, DType::f32}, {"ResizeBilinearGrad", infer_like<1>},
    {"ResizeNearestNeighbor", infer_resize}, {"ResizeNearestNeighborGrad", infer_resize},
    {"ResourceGather", infer_gather, "dtype"}, {"Reverse", infer_same}, {"ReverseSequence", infer_same},
    {"ReverseV2", infer_same}, {"RightShift", infer_broadcast}, {"Rint", infer_same}, {"Roll", infer_same},
    {"Round", infer_same}, {"Rsqrt", infer_same}, {"RsqrtGrad", infer_same}, {"ScatterNd", infer_given<2>},
    {"Select", infer_like<1>}, {"SelectV2", infer_select}, {"Selu", infer_same}, {"SeluGrad", infer_same},
    {"Shape", infer_shape, "out_type", DType::i32}, {"ShapeN", infer_shape, "out_type", DType::i32},
    {"Sigmoid", infer_same}, {"SigmoidGrad", infer_same}, {"Sign", infer_same}, {"Sin", infer_same},
    {"Sinh", infer_same}, {"Size", infer_scalar, "out_type", DType::i32}, {"Slice", infer_slice},
    {"Snapshot", infer_same}, {"Softmax", infer_same}, {"SoftmaxCrossEntropyWithLogits", infer_cross_entropy},
    {"Softplus", infer_same}, {"SoftplusGrad", infer_same}, {"Softsign", infer_same}, {"SoftsignGrad", infer_same},
    {"SpaceToBatchND", infer_space_to_batch}, {"SpaceToDepth", infer_space_to_depth},
    {"SparseSoftmaxCrossEntropyWithLogits", infer_cross_entropy}, {"SparseToDense", infer_given<1>},
    {"Split", infer_split}, {"SplitV", infer_split_sizes}, {"Sqrt", infer_same}, {"SqrtGrad", infer_same},
    {"Square", infer_same}, {"SquaredDifference", infer_broadcast}, {"Squeeze", infer_squeeze},
    {"StatelessRandomNormal", infer_given<0>, "dtype", DType::f32},
    {"StatelessRandomNormalV2", infer_given<0>, "dtype", DType::f32},
    {"StatelessRandomUniform", infer_given<0>, "dtype", DType::f32},
    {"StatelessRandomUniformV2", infer_given<0>, "dtype", DType::f32},
    {"StatelessTruncatedNormal", infer_given<0>, "dtype", DType::f32},
    {"StatelessTruncatedNormalV2", infer_given<0>, "dtype", DType::f32}, {"StopGradient", infer_same},
    {"StridedSlice", infer_strided_slice}, {"StridedSliceGrad", infer_given<0>}, {"Sub", infer_broadcast},
    {"Sum", infer_reduce}, {"Switch", infer_switch}, {"Tan", infer_same}, {"Tanh", infer_same},
    {"TanhGrad", infer_same}, {"TemporaryVariable", infer_attribute, "dtype"}, {"TensorScatterAdd", infer_same},
    {"TensorScatterSub", infer_same}, {"TensorScatterUpdate", infer_same}, {"Tile", infer_tile},
    {"TopK", infer_top_k}, {"TopKV2", infer_top_k}, {"Transpose", infer_transpose}, {"TruncateDiv", infer_broadcast},
    {"TruncateMod", infer_broadcast}, {"TruncatedNormal", infer_given<0>, "dtype"}, {"Unpack", infer_unpack},
    {"UnsortedSegmentSum", infer_segments}, {"VarIsInitializedOp", infer_scalar, kAlways, DType::boolean},
    {"VariableShape", infer_shape, "out_type", DType::i32}, {"Xdivy", infer_broadcast}, {"Xlog1py", infer_broadcast},
    {"Xlogy", infer_broadcast}, {"ZerosLike", infer_same}, {"_CopyFromGpuToHost", infer_same},
    {"_CopyFromHostToGpu", infer_same},
});
// clang-format on
static_assert(std::is_sorted(kRules.begin(), kRules.end(), [](const Rule& a, const Rule& b) { return a.op < b.op; }));

// nullptr: the operator has none.
const Rule* rule_of(std::string_view op) {
  const auto* rule = std::lower_bound(kRules.begin(), kRules.end(), op,
                                      [](const Rule& one, std::string_view wanted) { return one.op < wanted; });
  return rule == kRules.end() || rule->op != op ? nullptr : rule;
}

// The type of the results. A file without the attribute is incomplete; then they have the type of an operand.
std::optional<DType> result_type(const NodeTypes& types, const Rule& rule) {
  const std::optional<DType> dtype = rule.type == kAlways ? std::nullopt : types.node.dtype(rule.type);
  if (dtype || rule.otherwise) return dtype ? dtype : rule.otherwise;
  const bool is_second = rule.op == "Split" || rule.op == "Concat" || rule.op == "SelectV2" || rule.op == "Select";
  const std::size_t operand = is_second ? 1 : 0;
  return rule.type == "T" && operand < types.inputs.size() ? types.inputs[operand]->dtype : std::nullopt;
}

}  // namespace

bool has_rule(std::string_view op) { return rule_of(op) != nullptr; }

std::string_view type_attribute(std::string_view op) {
  const Rule* rule = rule_of(op);
  if (rule == nullptr) return {};
  return rule->type == kAlways && rule->otherwise == DType::boolean ? std::string_view("bool") : rule->type;
}

SameShape same_shape(std::string_view op) {
  if (op == "Assign") return SameShape::all;
  const Rule* rule = rule_of(op);
  if (rule == nullptr) return SameShape::none;
  if (rule->infer == infer_add_n) return SameShape::all;
  if (rule->infer != infer_same || op == "BiasAdd") return SameShape::none;
  return op.ends_with("Grad") && !op.starts_with("MaxPool") ? SameShape::all : SameShape::first;
}

void infer_node(NodeTypes& types) {
  const Rule* rule = rule_of(types.node.op());
  if (rule == nullptr) {
    for (KnownTensor& output : types.outputs) output.dtype = types.node.dtype("T");
    return;
  }
  const std::optional<DType> dtype = result_type(types, *rule);
  for (KnownTensor& output : types.outputs) output.dtype = dtype;
  rule->infer(types);
  for (KnownTensor& output : types.outputs) {
    const bool is_wrong =
        output.extents && std::ranges::any_of(*output.extents, [](std::int64_t extent) { return extent < kOpen; });
    if (is_wrong) output.extents = std::nullopt;
  }
  infer_values(types);
}

}  // namespace lowtide::graphdef_internal
