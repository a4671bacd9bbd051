// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/infer.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/graph/shape.h"

namespace lowtide::netdef_internal {
namespace {

void copy_type(OpTypes& types, std::size_t input, std::size_t output) {
  if (types.input(input) != nullptr) types.set_output(output, *types.input(input));
}

// All outputs are as input 0.
void infer_same(OpTypes& types) {
  for (std::size_t at = 0; at < types.outputs.size(); ++at) copy_type(types, 0, at);
}

void infer_dropout(OpTypes& types) {
  copy_type(types, 0, 0);
  if (types.input(0) != nullptr) types.set_output(1, DType::boolean, types.input(0)->extents);
}

void infer_loss(OpTypes& types) { types.set_output(0, DType::f32, {}); }

void infer_cross_entropy(OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr || x->extents.empty()) return;
  types.suggest_input(1, {DType::i32, {x->extents[0]}});
  types.set_output(0, x->dtype, {x->extents[0]});
}

void infer_softmax_with_loss(OpTypes& types) {
  copy_type(types, 0, 0);
  types.set_output(1, DType::f32, {});
  const BlobType* x = types.input(0);
  if (x != nullptr && !x->extents.empty()) types.suggest_input(1, {DType::i32, {x->extents[0]}});
}

void infer_accuracy(OpTypes& types) { types.set_output(0, DType::f32, {}); }

// The gradient of input k of the forward operator is as this input of the gradient operator.
void infer_first(OpTypes& types) { copy_type(types, 0, 0); }
void infer_second_and_third(OpTypes& types) {
  copy_type(types, 1, 0);
  copy_type(types, 2, 1);
}

void infer_spatial_bn_gradient(OpTypes& types) {
  copy_type(types, 0, 0);
  copy_type(types, 1, 1);
  copy_type(types, 1, 2);
}

// X, W, dY -> dW, db, dX, or without a bias dW, dX. The bias has one element for each row of W, whose rows have more
// than one axis in front if `axis_w` says so.
void infer_weight_gradient(OpTypes& types) {
  copy_type(types, 1, 0);
  const BlobType* w = types.input(1);
  const bool has_bias = types.op.integer("no_bias", 0) == 0;
  if (has_bias && w != nullptr && !w->extents.empty()) {
    const std::optional<std::size_t> axis = axis_of(types.op.integer("axis_w", 1), w->extents.size());
    const std::optional<std::int64_t> rows = axis ? product_of(w->extents, 0, *axis) : std::nullopt;
    if (rows) types.set_output(1, w->dtype, {*rows});
  }
  copy_type(types, 0, has_bias ? 2 : 1);
}

struct Rule {
  std::string_view type;
  void (*infer)(OpTypes& types);
  unsigned weights = 0;  // bit i: input i is a weight
};

constexpr unsigned kWeightAndBias = 0b110;

// Sorted by type.
// clang-format off
constexpr auto kRules = std::to_array<Rule>({
    {"Abs", infer_same}, {"Accuracy", infer_accuracy}, {"Add", infer_arithmetic},
    {"AddGradient", infer_second_and_third}, {"AffineChannel", infer_first, kWeightAndBias}, {"Alias", infer_same},
    {"And", infer_comparison}, {"ArgMax", infer_arg_axis}, {"ArgMin", infer_arg_axis}, {"AveragePool", infer_pool},
    {"AveragePool1D", infer_pool}, {"AveragePool2D", infer_pool}, {"AveragePool3D", infer_pool},
    {"AveragePoolGradient", infer_first}, {"AveragedLoss", infer_loss}, {"AveragedLossGradient", infer_first},
    {"BatchMatMul", infer_batch_mat_mul}, {"Cast", infer_cast}, {"Ceil", infer_same}, {"ChannelShuffle", infer_same},
    {"Clip", infer_same}, {"ClipGradient", infer_first}, {"Concat", infer_concat}, {"ConstantFill", infer_fill},
    {"Conv", infer_conv, kWeightAndBias}, {"Conv1D", infer_conv, kWeightAndBias},
    {"Conv2D", infer_conv, kWeightAndBias}, {"Conv3D", infer_conv, kWeightAndBias},
    {"ConvGradient", infer_weight_gradient, 0b10}, {"ConvTranspose", infer_conv_transpose, kWeightAndBias},
    {"Copy", infer_same}, {"CopyCPUToGPU", infer_same}, {"CopyFromCPUInput", infer_same},
    {"CopyGPUToCPU", infer_same}, {"CopyGPUToGPU", infer_same}, {"Cos", infer_same}, {"Div", infer_arithmetic},
    {"Dropout", infer_dropout}, {"DropoutGradient", infer_first}, {"EQ", infer_comparison}, {"Elu", infer_same},
    {"EluGradient", infer_first}, {"EnsureCPUOutput", infer_same}, {"Exp", infer_same},
    {"ExpandDims", infer_expand_dims}, {"FC", infer_fc, kWeightAndBias}, {"FCGradient", infer_weight_gradient, 0b10},
    {"Flatten", infer_flatten}, {"FlattenToVec", infer_vector}, {"Floor", infer_same}, {"GE", infer_comparison},
    {"GT", infer_comparison}, {"Gather", infer_gathered}, {"GaussianFill", infer_fill},
    {"GivenTensorBoolFill", infer_fill}, {"GivenTensorByteStringToUInt8Fill", infer_fill},
    {"GivenTensorDoubleFill", infer_fill}, {"GivenTensorFill", infer_fill}, {"GivenTensorInt64Fill", infer_fill},
    {"GivenTensorIntFill", infer_fill}, {"InstanceNorm", infer_first, kWeightAndBias}, {"LE", infer_comparison},
    {"LRN", infer_same}, {"LRNGradient", infer_first}, {"LT", infer_comparison},
    {"LabelCrossEntropy", infer_cross_entropy}, {"LabelCrossEntropyGradient", infer_first},
    {"LayerNorm", infer_first}, {"LeakyRelu", infer_same}, {"LeakyReluGradient", infer_first}, {"Log", infer_same},
    {"MSRAFill", infer_fill}, {"MatMul", infer_mat_mul}, {"Max", infer_first}, {"MaxPool", infer_pool},
    {"MaxPool1D", infer_pool}, {"MaxPool2D", infer_pool}, {"MaxPool3D", infer_pool}, {"MaxPoolGradient", infer_first},
    {"Mean", infer_first}, {"Min", infer_first}, {"Mul", infer_arithmetic}, {"MulGradient", infer_second_and_third},
    {"NCHW2NHWC", infer_order}, {"NE", infer_comparison}, {"NHWC2NCHW", infer_order}, {"Negative", infer_same},
    {"Normalize", infer_same}, {"Not", infer_same}, {"Or", infer_comparison}, {"PRelu", infer_first, 0b10},
    {"PadImage", infer_pad_image}, {"Pow", infer_power}, {"ReduceL1", infer_reduce_axes},
    {"ReduceL2", infer_reduce_axes}, {"ReduceMax", infer_reduce_axes}, {"ReduceMean", infer_reduce_axes},
    {"ReduceMin", infer_reduce_axes}, {"ReduceSum", infer_reduce_axes}, {"Relu", infer_same},
    {"ReluGradient", infer_first}, {"Reshape", infer_reshape}, {"ResizeNearest", infer_upsample},
    {"Rsqrt", infer_same}, {"Scale", infer_same}, {"Selu", infer_same}, {"Shape", infer_shape_list},
    {"Sigmoid", infer_same}, {"SigmoidGradient", infer_first}, {"Sign", infer_same}, {"Sin", infer_same},
    {"Slice", infer_slice_of_net}, {"Softmax", infer_same}, {"SoftmaxGradient", infer_first},
    {"SoftmaxWithLoss", infer_softmax_with_loss}, {"SoftmaxWithLossGradient", infer_first}, {"Softplus", infer_same},
    {"Softsign", infer_same}, {"SpatialBN", infer_spatial_bn, 0b11110},
    {"SpatialBNGradient", infer_spatial_bn_gradient, 0b10}, {"Split", infer_split}, {"Sqr", infer_same},
    {"Sqrt", infer_same}, {"Squeeze", infer_squeeze}, {"StopGradient", infer_same}, {"Sub", infer_arithmetic},
    {"Sum", infer_first}, {"Swish", infer_same}, {"Tanh", infer_same}, {"TanhGradient", infer_first},
    {"Tile", infer_tiles}, {"TopK", infer_top_elements}, {"Transpose", infer_transpose}, {"UniformFill", infer_fill},
    {"UpsampleBilinear", infer_upsample}, {"UpsampleNearest", infer_upsample}, {"WeightedSum", infer_first},
    {"XavierFill", infer_fill}, {"Xor", infer_comparison},
});
// clang-format on
static_assert(std::is_sorted(kRules.begin(), kRules.end(),
                             [](const Rule& a, const Rule& b) { return a.type < b.type; }));

const Rule* find_rule(std::string_view type) {
  const auto* rule = std::lower_bound(kRules.begin(), kRules.end(), type,
                                      [](const Rule& one, std::string_view wanted) { return one.type < wanted; });
  return rule != kRules.end() && rule->type == type ? rule : nullptr;
}

}  // namespace

void infer_arithmetic(OpTypes& types) {
  const BlobType* a = types.input(0);
  if (a != nullptr && types.op.integer("broadcast", 0) != 0) return types.set_output(0, BlobType(*a));
  const BlobType* b = types.input(1);
  if (a == nullptr || b == nullptr) return;
  std::optional<std::vector<std::int64_t>> extents = broadcast_extents(a->extents, b->extents);
  if (extents) return types.set_output(0, a->dtype, *std::move(extents));
  types.fault = "the inputs with the shapes " + to_string(Shape(a->extents)) + " and " + to_string(Shape(b->extents)) +
                " do not fit together";
}

void infer_types(OpTypes& types) {
  if (const Rule* rule = find_rule(types.op.type())) rule->infer(types);
}

bool is_weight(std::string_view type, std::size_t input) {
  const Rule* rule = find_rule(type);
  return rule != nullptr && input < 8 && ((rule->weights >> input) & 1U) != 0;
}

std::optional<DType> dtype_of(std::int64_t data_type) {
  switch (data_type) {
    case 1: return DType::f32;
    case 2: return DType::i32;
    case 3:
    case 6: return DType::u8;
    case 5: return DType::boolean;
    case 7: return DType::i8;
    case 8: return DType::u16;
    case 9: return DType::i16;
    case 10: return DType::i64;
    case 12: return DType::f16;
    case 13: return DType::f64;
    case 16: return DType::bf16;
    default: return std::nullopt;
  }
}

std::optional<DType> dtype_argument(const OpView& op, std::string_view name) {
  std::string text(op.text(name, ""));
  if (text.empty()) return dtype_of(op.integer(name, 0));
  for (char& letter : text) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  const std::span<const ProtoEnumValue> named = data_types();
  const auto found = std::ranges::find(named, text, &ProtoEnumValue::name);
  return found == named.end() ? std::nullopt : dtype_of(found->number);
}

std::optional<std::size_t> axis_of_parts(const OpView& op, std::size_t rank) {
  if (op.argument("axis") != nullptr) return axis_of(op.integer("axis", 0), rank);
  return axis_of(op.text("order", "NCHW") == "NHWC" ? -1 : 1, rank);
}

std::optional<std::int64_t> product_of(const std::vector<std::int64_t>& extents, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t at = begin; at < end; ++at) {
    const std::optional<std::int64_t> next = checked_multiply(product, extents[at]);
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

}  // namespace lowtide::netdef_internal
