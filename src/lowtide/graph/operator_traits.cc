// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/operator_traits.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "lowtide/graph/lowered.h"

namespace lowtide {
namespace {

constexpr OperatorTraits kUnknown = {};
constexpr OperatorTraits kKernel = {.is_known = true};  // one kernel, of which nothing else is known
constexpr OperatorTraits kCaller = {.is_known = true, .may_sum_products = false};

struct TraitRow {
  std::string_view type;
  OperatorTraits traits;
};

constexpr OperatorTraits pure(InPlaceKind in_place = InPlaceKind::none, ViewKind view = ViewKind::none) {
  return {.view = view, .in_place = in_place, .is_known = true, .is_pure = true, .may_sum_products = false};
}
constexpr OperatorTraits kPure = pure();
constexpr OperatorTraits kSums = {.is_known = true, .is_pure = true};  // may sum products, as a convolution does
constexpr OperatorTraits kEpilogue = {.in_place = InPlaceKind::epilogue, .is_known = true, .is_pure = true};
constexpr OperatorTraits kFirst = pure(InPlaceKind::first_input);
constexpr OperatorTraits kAny = pure(InPlaceKind::any_input);
constexpr OperatorTraits kWhole = pure(InPlaceKind::none, ViewKind::whole);
constexpr OperatorTraits kRandom = {.is_known = true, .may_sum_products = false, .is_random = true};
// Whether If, Loop and Scan are pure depends on their bodies, so the name does not determine it.
constexpr OperatorTraits kControl = {.is_known = true, .may_sum_products = false};
constexpr OperatorTraits kIf = {.is_known = true, .may_sum_products = false, .has_exclusive_bodies = true};

// Sorted by name (checked by a test). Normalizations and Softmax may overwrite their first input, because a kernel
// reads a whole row (or plane) for its statistics before it writes the row, and never reads another row.
// clang-format off
constexpr auto kTraitRows = std::to_array<TraitRow>({
    {"Abs", kFirst}, {"Acos", kFirst}, {"Acosh", kFirst}, {"Add", kAny}, {"AffineGrid", kSums}, {"And", kAny},
    {"ArgMax", kPure}, {"ArgMin", kPure}, {"Asin", kFirst}, {"Asinh", kFirst}, {"Atan", kFirst}, {"Atanh", kFirst},
    {"Attention", kSums}, {"AveragePool", kPure}, {"BatchNormalization", kFirst}, {"Bernoulli", kRandom},
    {"BitCast", kPure}, {"BitShift", kAny}, {"BitwiseAnd", kAny}, {"BitwiseNot", kFirst}, {"BitwiseOr", kAny},
    {"BitwiseXor", kAny}, {"BlackmanWindow", kPure}, {"Cast", kFirst}, {"CastLike", kFirst},
    {"CausalConvWithState", kSums}, {"Ceil", kFirst}, {"Celu", kFirst}, {"CenterCropPad", kPure}, {"Clip", kFirst},
    {"Col2Im", kPure}, {"Compress", kPure}, {"Concat", pure(InPlaceKind::none, ViewKind::concat)},
    {"ConcatFromSequence", kPure}, {"Constant", kPure}, {"ConstantOfShape", kPure}, {"Conv", kSums},
    {"ConvInteger", kSums}, {"ConvTranspose", kSums}, {"Cos", kFirst}, {"Cosh", kFirst}, {"CumProd", kPure},
    {"CumSum", kPure}, {"DFT", kSums}, {"DeformConv", kSums}, {"DepthToSpace", kPure}, {"DequantizeLinear", kPure},
    {"Det", kSums}, {"Div", kAny}, {"Dropout", kWhole}, {"DynamicQuantizeLinear", kPure}, {"Einsum", kSums},
    {"Elu", kFirst}, {"Equal", kAny}, {"Erf", kFirst}, {"Exp", kFirst},
    {"Expand", pure(InPlaceKind::none, ViewKind::expand)}, {"EyeLike", kPure}, {"Flatten", kWhole}, {"Floor", kFirst},
    {"GRU", kSums}, {"Gather", kPure}, {"GatherElements", kPure}, {"GatherND", kPure}, {"Gelu", kFirst},
    {"Gemm", kSums}, {"GlobalAveragePool", kPure}, {"GlobalLpPool", kPure}, {"GlobalMaxPool", kPure}, {"Greater", kAny},
    {"GreaterOrEqual", kAny}, {"GridSample", kPure}, {"GroupNormalization", kFirst}, {"HammingWindow", kPure},
    {"HannWindow", kPure}, {"HardSigmoid", kFirst}, {"HardSwish", kFirst}, {"Hardmax", kFirst}, {"Identity", kWhole},
    {"If", kIf}, {"ImageDecoder", kSums}, {"InstanceNormalization", kFirst}, {"IsInf", kFirst}, {"IsNaN", kFirst},
    {"LRN", kPure}, {"LSTM", kSums}, {"LayerNormalization", kFirst}, {"LeakyRelu", kFirst}, {"Less", kAny},
    {"LessOrEqual", kAny}, {"LinearAttention", kSums}, {"Log", kFirst}, {"LogSoftmax", kFirst}, {"Loop", kControl},
    {"LpNormalization", kFirst}, {"LpPool", kPure}, {"MatMul", kSums}, {"MatMulInteger", kSums}, {"Max", kAny},
    {"MaxPool", kPure}, {"MaxRoiPool", kPure}, {"MaxUnpool", kPure}, {"Mean", kAny},
    {"MeanVarianceNormalization", kFirst}, {"MelWeightMatrix", kPure}, {"Min", kAny}, {"Mish", kFirst}, {"Mod", kAny},
    {"Mul", kAny}, {"Multinomial", kRandom}, {"Neg", kFirst}, {"NegativeLogLikelihoodLoss", kPure},
    {"NonMaxSuppression", kPure}, {"NonZero", kPure}, {"Not", kFirst}, {"OneHot", kPure}, {"Optional", kPure},
    {"OptionalGetElement", kPure}, {"OptionalHasElement", kPure}, {"Or", kAny}, {"PRelu", kFirst}, {"Pad", kPure},
    {"Pow", kAny}, {"QLinearConv", kSums}, {"QLinearMatMul", kSums}, {"QuantizeLinear", kPure},
    {"RMSNormalization", kFirst}, {"RNN", kSums}, {"RandomNormal", kRandom}, {"RandomNormalLike", kRandom},
    {"RandomUniform", kRandom}, {"RandomUniformLike", kRandom}, {"Range", kPure}, {"Reciprocal", kFirst},
    {"ReduceL1", kPure}, {"ReduceL2", kPure}, {"ReduceLogSum", kPure}, {"ReduceLogSumExp", kPure}, {"ReduceMax", kPure},
    {"ReduceMean", kPure}, {"ReduceMin", kPure}, {"ReduceProd", kPure}, {"ReduceSum", kPure},
    {"ReduceSumSquare", kPure}, {"RegexFullMatch", kPure}, {"Relu", kFirst}, {"Reshape", kWhole}, {"Resize", kPure},
    {"ReverseSequence", kPure}, {"RoiAlign", kPure}, {"RotaryEmbedding", kPure}, {"Round", kFirst}, {"STFT", kSums},
    {"Scan", kControl}, {"ScatterElements", kPure}, {"ScatterND", kPure}, {"Selu", kFirst}, {"SequenceAt", kPure},
    {"SequenceConstruct", kPure}, {"SequenceEmpty", kPure}, {"SequenceErase", kPure}, {"SequenceInsert", kPure},
    {"SequenceLength", kPure}, {"SequenceMap", kControl}, {"Shape", kPure}, {"Shrink", kFirst}, {"Sigmoid", kFirst},
    {"Sign", kFirst}, {"Sin", kFirst}, {"Sinh", kFirst}, {"Size", kPure},
    {"Slice", pure(InPlaceKind::none, ViewKind::slice)}, {"Softmax", kFirst}, {"SoftmaxCrossEntropyLoss", kPure},
    {"Softplus", kFirst}, {"Softsign", kFirst}, {"SpaceToDepth", kPure},
    {"Split", pure(InPlaceKind::none, ViewKind::split)}, {"SplitToSequence", kPure}, {"Sqrt", kFirst},
    {"Squeeze", kWhole}, {"StringConcat", kPure}, {"StringNormalizer", kPure}, {"StringSplit", kPure}, {"Sub", kAny},
    {"Sum", kAny}, {"Swish", kFirst}, {"Tan", kFirst}, {"Tanh", kFirst}, {"TensorScatter", kPure},
    {"TfIdfVectorizer", kPure}, {"ThresholdedRelu", kFirst}, {"Tile", pure(InPlaceKind::none, ViewKind::expand)},
    {"TopK", kPure}, {"Transpose", pure(InPlaceKind::none, ViewKind::transpose)}, {"Trilu", kPure}, {"Unique", kPure},
    {"Unsqueeze", kWhole}, {"Upsample", kPure}, {"Where", kAny}, {"Xor", kAny},
});
// clang-format on

// Operators of ONNX Runtime, in both of its domains (import/onnx/proto/runtime_operators.h). A convolution reads its
// inputs again after it has written some outputs, so it overwrites nothing.
// clang-format off
constexpr auto kRuntimeRows = std::to_array<TraitRow>({
    {"AveragePool", kPure}, {"BiasGelu", kFirst}, {"Conv", kSums}, {"FusedConv", kSums}, {"FusedGemm", kSums},
    {"FusedMatMul", kSums}, {"Gelu", kFirst}, {"GlobalAveragePool", kPure}, {"MaxPool", kPure}, {"QuickGelu", kFirst},
    {"ReorderInput", kPure}, {"ReorderOutput", kPure}, {"SkipLayerNormalization", kFirst}, {"Upsample", kPure},
});
// clang-format on

// Operators of Caffe2, under the domain of nets (netdef/graph_of_net.h). They work in place where Caffe2 permits a net
// to write so. Fills are not pure here, so that they stay in the run as in the net. Sorted by name.
constexpr OperatorTraits kStep = {.is_known = true, .may_sum_products = false};
constexpr OperatorTraits kRandomFirst = {
    .in_place = InPlaceKind::first_input, .is_known = true, .may_sum_products = false, .is_random = true};
// clang-format off
constexpr auto kCaffe2Rows = std::to_array<TraitRow>({
    {"Abs", kPure}, {"Accuracy", kPure}, {"Add", kAny}, {"AddGradient", kPure}, {"AffineChannel", kFirst},
    {"Alias", {.view = ViewKind::whole, .is_known = true, .may_sum_products = false}}, {"AveragePool", kPure},
    {"AveragePoolGradient", kPure}, {"AveragedLoss", kPure}, {"AveragedLossGradient", kPure}, {"BatchMatMul", kSums},
    {"Cast", kPure}, {"ChannelShuffle", kPure}, {"Clip", kFirst}, {"ClipGradient", kPure}, {"Concat", kPure},
    {"ConstantFill", kStep}, {"Conv", kSums}, {"ConvGradient", kSums}, {"ConvTranspose", kSums}, {"Copy", kPure},
    {"CopyCPUToGPU", kPure}, {"CopyFromCPUInput", kPure}, {"CopyGPUToCPU", kPure}, {"CopyGPUToGPU", kPure},
    {"Div", kAny}, {"Dropout", kRandomFirst}, {"DropoutGradient", kPure}, {"Elu", kFirst}, {"EluGradient", kPure},
    {"EnsureCPUOutput", kPure}, {"Exp", kFirst}, {"ExpandDims", kFirst}, {"FC", kSums}, {"FCGradient", kSums},
    {"Flatten", kPure}, {"GaussianFill", kStep}, {"GivenTensorFill", kStep}, {"GivenTensorInt64Fill", kStep},
    {"GivenTensorIntFill", kStep}, {"InstanceNorm", kPure}, {"LRN", kPure}, {"LRNGradient", kPure},
    {"LabelCrossEntropy", kPure}, {"LabelCrossEntropyGradient", kPure}, {"LeakyRelu", kFirst},
    {"LeakyReluGradient", kPure}, {"Log", kFirst}, {"MSRAFill", kStep}, {"MatMul", kSums}, {"Max", kFirst},
    {"MaxPool", kPure}, {"MaxPoolGradient", kPure}, {"Mul", kAny}, {"MulGradient", kPure}, {"Negative", kFirst},
    {"PRelu", kFirst}, {"Relu", kFirst}, {"ReluGradient", kPure}, {"Reshape", kFirst}, {"Scale", kFirst},
    {"Sigmoid", kFirst}, {"SigmoidGradient", kPure}, {"Softmax", kPure}, {"SoftmaxGradient", kPure},
    {"SoftmaxWithLoss", kPure}, {"SoftmaxWithLossGradient", kPure}, {"SpatialBN", kFirst}, {"SpatialBNGradient", kSums},
    {"Split", kPure}, {"Sqr", kFirst}, {"Sqrt", kFirst}, {"Squeeze", kFirst}, {"StopGradient", kFirst}, {"Sub", kAny},
    {"Sum", kFirst}, {"Tanh", kFirst}, {"TanhGradient", kPure}, {"Transpose", kPure}, {"UniformFill", kStep},
    {"WeightedSum", kFirst}, {"XavierFill", kStep},
});
// clang-format on
static_assert(std::is_sorted(kCaffe2Rows.begin(), kCaffe2Rows.end(),
                             [](const TraitRow& a, const TraitRow& b) { return a.type < b.type; }));

// Operators of TensorFlow (graphdef/graph_of_graphdef.h), which gives the buffer of an input to the result of an
// element-wise kernel if it is free. Those that are not here are unknown. Sorted by name.
// clang-format off
constexpr auto kTensorFlowRows = std::to_array<TraitRow>({
    {"Abs", kFirst}, {"AccumulateNV2", kFirst}, {"Acos", kFirst}, {"Acosh", kFirst}, {"Add", kAny}, {"AddN", kFirst},
    {"AddV2", kAny}, {"All", kPure}, {"Any", kPure}, {"ApproximateEqual", kPure}, {"ArgMax", kPure}, {"ArgMin", kPure},
    {"Asin", kFirst}, {"Asinh", kFirst}, {"Assert", kStep}, {"Assign", kStep}, {"AssignAdd", kStep},
    {"AssignSub", kStep}, {"AssignVariableOp", kStep}, {"Atan", kFirst}, {"Atan2", kAny}, {"Atanh", kFirst},
    {"AvgPool", kPure}, {"AvgPool3D", kPure}, {"AvgPool3DGrad", kPure}, {"AvgPoolGrad", kPure}, {"BatchMatMul", kSums},
    {"BatchMatMulV2", kSums}, {"BatchMatMulV3", kSums}, {"BatchNormWithGlobalNormalization", kPure},
    {"BatchNormWithGlobalNormalizationGrad", kPure}, {"BatchToSpaceND", kPure}, {"BiasAdd", kFirst},
    {"BiasAddGrad", kPure}, {"BiasAddV1", kFirst}, {"Bitcast", kPure}, {"BitwiseAnd", kAny}, {"BitwiseOr", kAny},
    {"BitwiseXor", kAny}, {"BroadcastGradientArgs", kPure}, {"BroadcastTo", kPure}, {"Cast", kPure}, {"Ceil", kFirst},
    {"CheckNumerics", kStep}, {"ClipByValue", kFirst}, {"Concat", kPure}, {"ConcatOffset", kPure}, {"ConcatV2", kPure},
    {"Conv2D", kSums}, {"Conv2DBackpropFilter", kSums}, {"Conv2DBackpropFilterV2", kSums},
    {"Conv2DBackpropInput", kSums}, {"Conv2DBackpropInputV2", kSums}, {"Conv3D", kSums},
    {"Conv3DBackpropFilter", kSums}, {"Conv3DBackpropFilterV2", kSums}, {"Conv3DBackpropInput", kSums},
    {"Conv3DBackpropInputV2", kSums}, {"Cos", kFirst}, {"Cosh", kFirst}, {"CropAndResize", kPure}, {"Cumprod", kPure},
    {"Cumsum", kPure}, {"DeepCopy", kPure}, {"DepthToSpace", kPure}, {"DepthwiseConv2dNative", kSums},
    {"DepthwiseConv2dNativeBackpropFilter", kSums}, {"DepthwiseConv2dNativeBackpropInput", kSums}, {"Digamma", kFirst},
    {"Div", kAny}, {"DivNoNan", kAny}, {"DynamicStitch", kPure}, {"Elu", kFirst}, {"EluGrad", kAny}, {"Empty", kStep},
    {"EnsureShape", kStep}, {"Equal", kPure}, {"Erf", kFirst}, {"Erfc", kFirst}, {"Erfinv", kFirst},
    {"EuclideanNorm", kPure}, {"Exp", kFirst}, {"ExpandDims", kWhole}, {"Expm1", kFirst},
    {"ExtractImagePatches", kPure}, {"FakeQuantWithMinMaxArgs", kPure}, {"FakeQuantWithMinMaxArgsGradient", kPure},
    {"FakeQuantWithMinMaxVars", kPure}, {"FakeQuantWithMinMaxVarsGradient", kPure},
    {"FakeQuantWithMinMaxVarsPerChannel", kPure}, {"Fill", kPure}, {"Floor", kFirst}, {"FloorDiv", kAny},
    {"FloorMod", kAny}, {"FusedBatchNorm", kPure}, {"FusedBatchNormGrad", kPure}, {"FusedBatchNormGradV2", kPure},
    {"FusedBatchNormGradV3", kPure}, {"FusedBatchNormV2", kPure}, {"FusedBatchNormV3", kPure}, {"Gather", kPure},
    {"GatherNd", kPure}, {"GatherV2", kPure}, {"Greater", kPure}, {"GreaterEqual", kPure}, {"Identity", kWhole},
    {"IdentityN", kPure}, {"InTopK", kPure}, {"InTopKV2", kPure}, {"Inv", kFirst}, {"InvGrad", kAny},
    {"Invert", kPure}, {"InvertPermutation", kPure}, {"IsFinite", kPure}, {"IsInf", kPure}, {"IsNan", kPure},
    {"IsVariableInitialized", kStep}, {"L2Loss", kPure}, {"LRN", kPure}, {"LRNGrad", kPure}, {"LeakyRelu", kFirst},
    {"LeakyReluGrad", kAny}, {"LeftShift", kPure}, {"Less", kPure}, {"LessEqual", kPure}, {"Lgamma", kFirst},
    {"LinSpace", kPure}, {"ListDiff", kPure}, {"Log", kFirst}, {"Log1p", kFirst}, {"LogSoftmax", kPure},
    {"LogicalAnd", kAny}, {"LogicalNot", kFirst}, {"LogicalOr", kAny}, {"MatMul", kSums}, {"MatrixBandPart", kPure},
    {"Max", kPure}, {"MaxPool", kPure}, {"MaxPool3D", kPure}, {"MaxPool3DGrad", kPure}, {"MaxPool3DGradGrad", kPure},
    {"MaxPoolGrad", kPure}, {"MaxPoolGradGrad", kPure}, {"MaxPoolGradV2", kPure}, {"MaxPoolGradWithArgmax", kPure},
    {"MaxPoolV2", kPure}, {"MaxPoolWithArgmax", kPure}, {"Maximum", kAny}, {"Mean", kPure}, {"Min", kPure},
    {"Minimum", kAny}, {"MirrorPad", kPure}, {"MirrorPadGrad", kPure}, {"Mod", kAny}, {"Mul", kAny},
    {"MulNoNan", kAny}, {"Multinomial", kRandom}, {"Neg", kFirst}, {"NoOp", kStep}, {"NotEqual", kPure},
    {"OneHot", kPure}, {"OnesLike", kPure}, {"Pack", kPure}, {"Pad", kPure}, {"PadV2", kPure},
    {"PlaceholderWithDefault", kStep}, {"Pow", kAny}, {"PreventGradient", kWhole}, {"Prod", kPure},
    {"QuantizeAndDequantizeV2", kPure}, {"RandomShuffle", kRandom}, {"RandomStandardNormal", kRandom},
    {"RandomUniform", kRandom}, {"RandomUniformInt", kRandom}, {"Range", kPure}, {"Rank", kPure},
    {"ReadVariableOp", kStep}, {"RealDiv", kAny}, {"Reciprocal", kFirst}, {"ReciprocalGrad", kAny}, {"Relu", kFirst},
    {"Relu6", kFirst}, {"Relu6Grad", kAny}, {"ReluGrad", kAny}, {"Reshape", kWhole}, {"ResizeArea", kPure},
    {"ResizeBicubic", kPure}, {"ResizeBicubicGrad", kPure}, {"ResizeBilinear", kPure}, {"ResizeBilinearGrad", kPure},
    {"ResizeNearestNeighbor", kPure}, {"ResizeNearestNeighborGrad", kPure}, {"ResourceGather", kStep},
    {"Reverse", kPure}, {"ReverseSequence", kPure}, {"ReverseV2", kPure}, {"RightShift", kPure}, {"Rint", kFirst},
    {"Roll", kPure}, {"Round", kFirst}, {"Rsqrt", kFirst}, {"RsqrtGrad", kAny}, {"ScatterNd", kPure},
    {"Select", kPure}, {"SelectV2", kPure}, {"Selu", kFirst}, {"SeluGrad", kAny}, {"Shape", kPure}, {"ShapeN", kPure},
    {"Sigmoid", kFirst}, {"SigmoidGrad", kAny}, {"Sign", kFirst}, {"Sin", kFirst}, {"Sinh", kFirst}, {"Size", kPure},
    {"Slice", kPure}, {"Snapshot", kFirst}, {"Softmax", kPure}, {"SoftmaxCrossEntropyWithLogits", kPure},
    {"Softplus", kFirst}, {"SoftplusGrad", kAny}, {"Softsign", kFirst}, {"SoftsignGrad", kAny},
    {"SpaceToBatchND", kPure}, {"SpaceToDepth", kPure}, {"SparseSoftmaxCrossEntropyWithLogits", kPure},
    {"SparseToDense", kPure}, {"Split", kPure}, {"SplitV", kPure}, {"Sqrt", kFirst}, {"SqrtGrad", kAny},
    {"Square", kFirst}, {"SquaredDifference", kAny}, {"Squeeze", kWhole}, {"StatelessRandomNormal", kPure},
    {"StatelessRandomNormalV2", kPure}, {"StatelessRandomUniform", kPure}, {"StatelessRandomUniformV2", kPure},
    {"StatelessTruncatedNormal", kPure}, {"StatelessTruncatedNormalV2", kPure}, {"StopGradient", kWhole},
    {"StridedSlice", kPure}, {"StridedSliceGrad", kPure}, {"Sub", kAny}, {"Sum", kPure}, {"Tan", kFirst},
    {"Tanh", kFirst}, {"TanhGrad", kAny}, {"TensorScatterAdd", kPure}, {"TensorScatterSub", kPure},
    {"TensorScatterUpdate", kPure}, {"Tile", kPure}, {"TopK", kPure}, {"TopKV2", kPure}, {"Transpose", kPure},
    {"TruncateDiv", kAny}, {"TruncateMod", kAny}, {"TruncatedNormal", kRandom}, {"Unpack", kPure},
    {"UnsortedSegmentSum", kPure}, {"VarIsInitializedOp", kStep}, {"VariableShape", kPure}, {"Xdivy", kAny},
    {"Xlog1py", kAny}, {"Xlogy", kAny}, {"ZerosLike", kPure}, {"_CopyFromGpuToHost", kStep},
    {"_CopyFromHostToGpu", kStep},
});
// clang-format on
static_assert(std::is_sorted(kTensorFlowRows.begin(), kTensorFlowRows.end(),
                             [](const TraitRow& a, const TraitRow& b) { return a.type < b.type; }));

// Operators of TensorFlow Lite (tflite/model_import/graph_of_tflite.h). Custom operators are unknown. What those on
// variables do depends on the order in which they run, which control inputs state. Recurrent ones change variables
// that are among their operands. A CONCATENATION may convert its operands from one quantization to another, so it is
// not a view. Sorted by name.
constexpr OperatorTraits kResource = {.is_known = true, .may_sum_products = false, .is_stateful = true};
constexpr OperatorTraits kRecurrent = {.is_known = true, .is_stateful = true};
constexpr OperatorTraits kOnce = {.is_known = true, .may_sum_products = false, .is_stateful = true};
// clang-format off
constexpr auto kTfliteRows = std::to_array<TraitRow>({
    {"ABS", kFirst}, {"ADD", kAny}, {"ADD_N", kAny}, {"ARG_MAX", kPure}, {"ARG_MIN", kPure},
    {"ASSIGN_VARIABLE", kResource}, {"ATAN2", kAny}, {"AVERAGE_POOL_2D", kPure}, {"BATCH_MATMUL", kSums},
    {"BATCH_TO_SPACE_ND", kPure}, {"BIDIRECTIONAL_SEQUENCE_LSTM", kRecurrent},
    {"BIDIRECTIONAL_SEQUENCE_RNN", kRecurrent}, {"BITCAST", kPure}, {"BITWISE_XOR", kAny}, {"BROADCAST_ARGS", kPure},
    {"BROADCAST_TO", kPure}, {"BUCKETIZE", kPure}, {"CALL", kControl}, {"CALL_ONCE", kOnce}, {"CAST", kFirst},
    {"CEIL", kFirst}, {"COMPLEX_ABS", kPure}, {"CONCATENATION", kPure}, {"CONV_2D", kSums}, {"CONV_3D", kSums},
    {"CONV_3D_TRANSPOSE", kSums}, {"COS", kFirst}, {"CUMSUM", kPure}, {"DENSIFY", kPure}, {"DEPTHWISE_CONV_2D", kSums},
    {"DEPTH_TO_SPACE", kPure}, {"DEQUANTIZE", kPure}, {"DILATE", kPure}, {"DIV", kAny},
    {"DYNAMIC_UPDATE_SLICE", kPure}, {"ELU", kFirst}, {"EMBEDDING_LOOKUP", kPure}, {"EQUAL", kAny}, {"EXP", kFirst},
    {"EXPAND_DIMS", kWhole}, {"FAKE_QUANT", kFirst}, {"FILL", kPure}, {"FLOOR", kFirst}, {"FLOOR_DIV", kAny},
    {"FLOOR_MOD", kAny}, {"FULLY_CONNECTED", kSums}, {"GATHER", kPure}, {"GATHER_ND", kPure}, {"GELU", kFirst},
    {"GREATER", kAny}, {"GREATER_EQUAL", kAny}, {"HARD_SWISH", kFirst}, {"HASHTABLE", kResource},
    {"HASHTABLE_FIND", kResource}, {"HASHTABLE_IMPORT", kResource}, {"HASHTABLE_SIZE", kResource}, {"IF", kIf},
    {"IMAG", kPure}, {"L2_NORMALIZATION", kFirst}, {"L2_POOL_2D", kPure}, {"LEAKY_RELU", kFirst}, {"LESS", kAny},
    {"LESS_EQUAL", kAny}, {"LOCAL_RESPONSE_NORMALIZATION", kPure}, {"LOG", kFirst}, {"LOGICAL_AND", kAny},
    {"LOGICAL_NOT", kFirst}, {"LOGICAL_OR", kAny}, {"LOGISTIC", kFirst}, {"LOG_SOFTMAX", kFirst}, {"LSTM", kRecurrent},
    {"MATRIX_DIAG", kPure}, {"MATRIX_SET_DIAG", kPure}, {"MAXIMUM", kAny}, {"MAX_POOL_2D", kPure}, {"MEAN", kPure},
    {"MINIMUM", kAny}, {"MIRROR_PAD", kPure}, {"MUL", kAny}, {"MULTINOMIAL", kRandom}, {"NEG", kFirst},
    {"NON_MAX_SUPPRESSION_V4", kPure}, {"NON_MAX_SUPPRESSION_V5", kPure}, {"NOT_EQUAL", kAny}, {"ONE_HOT", kPure},
    {"PACK", kPure}, {"PAD", kPure}, {"PADV2", kPure}, {"POW", kAny}, {"PRELU", kFirst}, {"QUANTIZE", kFirst},
    {"RANDOM_STANDARD_NORMAL", kRandom}, {"RANDOM_UNIFORM", kRandom}, {"RANGE", kPure}, {"RANK", kPure},
    {"READ_VARIABLE", kResource}, {"REAL", kPure}, {"REDUCE_ALL", kPure}, {"REDUCE_ANY", kPure}, {"REDUCE_MAX", kPure},
    {"REDUCE_MIN", kPure}, {"REDUCE_PROD", kPure}, {"RELU", kFirst}, {"RELU6", kFirst}, {"RELU_0_TO_1", kFirst},
    {"RELU_N1_TO_1", kFirst}, {"RESHAPE", kWhole}, {"RESIZE_BILINEAR", kPure}, {"RESIZE_NEAREST_NEIGHBOR", kPure},
    {"REVERSE_SEQUENCE", kPure}, {"REVERSE_V2", kPure}, {"RFFT2D", kSums}, {"RIGHT_SHIFT", kAny}, {"RNN", kRecurrent},
    {"ROUND", kFirst}, {"RSQRT", kFirst}, {"SCATTER_ND", kPure}, {"SEGMENT_SUM", kPure}, {"SELECT", kAny},
    {"SELECT_V2", kAny}, {"SHAPE", kPure}, {"SIGN", kFirst}, {"SIN", kFirst}, {"SLICE", kPure}, {"SOFTMAX", kFirst},
    {"SPACE_TO_BATCH_ND", kPure}, {"SPACE_TO_DEPTH", kPure}, {"SPARSE_TO_DENSE", kPure}, {"SPLIT", kPure},
    {"SPLIT_V", kPure}, {"SQRT", kFirst}, {"SQUARE", kFirst}, {"SQUARED_DIFFERENCE", kAny}, {"SQUEEZE", kWhole},
    {"STRIDED_SLICE", kPure}, {"SUB", kAny}, {"SUM", kPure}, {"SVDF", kRecurrent}, {"TANH", kFirst}, {"TILE", kPure},
    {"TOPK_V2", kPure}, {"TRANSPOSE", kPure}, {"TRANSPOSE_CONV", kSums}, {"UNIDIRECTIONAL_SEQUENCE_LSTM", kRecurrent},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", kRecurrent}, {"UNIQUE", kPure}, {"UNPACK", kPure}, {"UNSORTED_SEGMENT_MAX", kPure},
    {"UNSORTED_SEGMENT_MIN", kPure}, {"UNSORTED_SEGMENT_PROD", kPure}, {"UNSORTED_SEGMENT_SUM", kPure},
    {"VAR_HANDLE", kResource}, {"WHERE", kPure}, {"WHILE", kControl}, {"ZEROS_LIKE", kPure},
});
// clang-format on
static_assert(std::is_sorted(kTfliteRows.begin(), kTfliteRows.end(),
                             [](const TraitRow& a, const TraitRow& b) { return a.type < b.type; }));

// Operators of lowered graphs (graph/lowered.h).
constexpr auto kLoweredRows = std::to_array<TraitRow>({
    {kAttentionType, kSums},
    {kAveragePoolType, kPure},
    {kBatchNormalizationType, kFirst},
    {kChainType, kAny},
    {kConcatType, kPure},
    {kConvType, kEpilogue},
    {kGemmType, kEpilogue},
    {kGlobalAveragePoolType, kPure},
    {kCallerType, kCaller},
    {kMatMulType, kEpilogue},
    {kMaxPoolType, kPure},
    {kPackType, kPure},
    {kPackedMatMulType, kEpilogue},
    {kQuantizedConvType, kSums},
    {kQuantizedMatMulType, kSums},
    {kReorderType, kPure},
    {kRequantizeType, kPure},
    {kScaledBiasType, kPure},
    {kScaledWeightsType, kPure},
    {kTransposeType, kPure},
});

// Operators of domain ai.onnx.ml. Sorted by name.
constexpr auto kClassicalRows = std::to_array<TraitRow>({
    {"ArrayFeatureExtractor", kPure},
    {"Binarizer", kFirst},
    {"CastMap", kPure},
    {"CategoryMapper", kPure},
    {"DictVectorizer", kPure},
    {"FeatureVectorizer", kPure},
    {"Imputer", kFirst},
    {"LabelEncoder", kPure},
    {"LinearClassifier", kSums},
    {"LinearRegressor", kSums},
    {"Normalizer", kPure},
    {"OneHotEncoder", kPure},
    {"SVMClassifier", kSums},
    {"SVMRegressor", kSums},
    {"Scaler", kPure},
    {"TreeEnsemble", kPure},
    {"TreeEnsembleClassifier", kPure},
    {"TreeEnsembleRegressor", kPure},
    {"ZipMap", kPure},
});
static_assert(std::is_sorted(kClassicalRows.begin(), kClassicalRows.end(),
                             [](const TraitRow& a, const TraitRow& b) { return a.type < b.type; }));

template <typename Rows>
const OperatorTraits& traits_in(const Rows& rows, std::string_view type) {
  const auto* row =
      std::lower_bound(rows.begin(), rows.end(), type,
                       [](const TraitRow& candidate, std::string_view wanted) { return candidate.type < wanted; });
  return row != rows.end() && row->type == type ? row->traits : kUnknown;
}

}  // namespace

const OperatorTraits& operator_traits(std::string_view domain, std::string_view type) {
  if (domain == "ai.onnx.ml") return traits_in(kClassicalRows, type);
  if (domain == kOwnDomain) return traits_in(kLoweredRows, type);
  if (domain.empty() || domain == "ai.onnx") return traits_in(kTraitRows, type);
  if (domain == "caffe2") return traits_in(kCaffe2Rows, type);
  if (domain == "tensorflow") return traits_in(kTensorFlowRows, type);
  if (domain == "tflite") return traits_in(kTfliteRows, type);
  if (domain == "tensorflow.once") return kKernel;
  if (domain == "com.microsoft" || domain == "com.microsoft.nchwc") return traits_in(kRuntimeRows, type);
  return kUnknown;
}

}  // namespace lowtide
