// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graphdef/op_rules.h"

#include <algorithm>
#include <array>

#include "lowtide/graphdef/format.h"

namespace lowtide::graphdef_internal {
namespace {

void infer_same(NodeTypes& types) {
  if (types.extents(0) != nullptr) types.set(0, *types.extents(0));
}

// y, and statistics of the channels.
void infer_batch_norm(NodeTypes& types) {
  infer_same(types);
  for (std::size_t at = 1; at < types.outputs.size(); ++at) {
    if (at < 5 && types.extents(1) != nullptr) types.set(at, *types.extents(1));
    types.outputs[at].dtype = DType::f32;
  }
}

void infer_shape(NodeTypes& types) {
  if (types.extents(0) != nullptr) types.set(0, {static_cast<std::int64_t>(types.extents(0)->size())});
}

void infer_scalar(NodeTypes& types) { types.set(0, {}); }

// All inputs have one shape, so an extent is known if one of them states it.
void infer_add_n(NodeTypes& types) {
  std::optional<Extents> sum;
  for (std::size_t at = 0; at < types.inputs.size(); ++at) {
    const Extents* operand = types.extents(at);
    if (operand == nullptr || (sum && sum->size() != operand->size())) continue;
    if (!sum) sum = *operand;
    for (std::size_t axis = 0; axis < sum->size(); ++axis) (*sum)[axis] = std::max((*sum)[axis], (*operand)[axis]);
  }
  if (sum) types.set(0, *std::move(sum));
}

// The gradient of the operand of a window whose extents are an input.
template <std::size_t kInput>
void infer_given(NodeTypes& types) {
  const Extents* given = types.content(kInput);
  if (given == nullptr || std::ranges::any_of(*given, [](std::int64_t one) { return one < 0; })) return;
  types.set(0, *given);
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

struct Rule {
  std::string_view op;
  void (*infer)(NodeTypes& types);
  std::string_view type = "T";  // the attribute with the type of output 0; "bool": always bool
};

// Sorted by operator.
// clang-format off
constexpr auto kRules = std::to_array<Rule>({
    {"Abs", infer_same}, {"AccumulateNV2", infer_add_n}, {"Acos", infer_same}, {"Add", infer_broadcast},
    {"AddN", infer_add_n}, {"AddV2", infer_broadcast}, {"Asin", infer_same}, {"Atan", infer_same},
    {"Atan2", infer_broadcast}, {"AvgPool", infer_pool}, {"AvgPoolGrad", infer_given<0>},
    {"BatchMatMul", infer_batch_mat_mul}, {"BatchMatMulV2", infer_batch_mat_mul}, {"BiasAdd", infer_same},
    {"BiasAddGrad", infer_bias_grad}, {"Cast", infer_same, "DstT"}, {"Ceil", infer_same}, {"CheckNumerics", infer_same},
    {"ConcatV2", infer_concat}, {"Conv2D", infer_conv}, {"Conv2DBackpropFilter", infer_given<1>},
    {"Conv2DBackpropInput", infer_given<0>}, {"Cos", infer_same}, {"Cosh", infer_same},
    {"DepthwiseConv2dNative", infer_depthwise}, {"DepthwiseConv2dNativeBackpropFilter", infer_given<1>},
    {"DepthwiseConv2dNativeBackpropInput", infer_given<0>}, {"Div", infer_broadcast}, {"Elu", infer_same},
    {"EluGrad", infer_same}, {"Equal", infer_broadcast, "bool"}, {"Erf", infer_same}, {"Erfc", infer_same},
    {"Exp", infer_same}, {"ExpandDims", infer_expand_dims}, {"Expm1", infer_same}, {"Fill", infer_fill},
    {"Floor", infer_same}, {"FloorDiv", infer_broadcast}, {"FloorMod", infer_broadcast},
    {"FusedBatchNorm", infer_batch_norm}, {"FusedBatchNormGrad", infer_batch_norm_grad},
    {"FusedBatchNormGradV2", infer_batch_norm_grad}, {"FusedBatchNormGradV3", infer_batch_norm_grad},
    {"FusedBatchNormV2", infer_batch_norm}, {"FusedBatchNormV3", infer_batch_norm},
    {"Greater", infer_broadcast, "bool"}, {"GreaterEqual", infer_broadcast, "bool"}, {"Identity", infer_same},
    {"Inv", infer_same}, {"InvGrad", infer_same}, {"IsVariableInitialized", infer_scalar, "bool"},
    {"L2Loss", infer_scalar}, {"LRN", infer_same}, {"LeakyRelu", infer_same}, {"LeakyReluGrad", infer_same},
    {"Less", infer_broadcast, "bool"}, {"LessEqual", infer_broadcast, "bool"}, {"Lgamma", infer_same},
    {"Log", infer_same}, {"Log1p", infer_same}, {"LogSoftmax", infer_same}, {"LogicalAnd", infer_broadcast, "bool"},
    {"LogicalNot", infer_same, "bool"}, {"LogicalOr", infer_broadcast, "bool"}, {"MatMul", infer_mat_mul},
    {"Max", infer_reduce}, {"MaxPool", infer_pool}, {"MaxPoolGrad", infer_same}, {"Maximum", infer_broadcast},
    {"Mean", infer_reduce}, {"Min", infer_reduce}, {"Minimum", infer_broadcast}, {"Mod", infer_broadcast},
    {"Mul", infer_broadcast}, {"Neg", infer_same}, {"NotEqual", infer_broadcast, "bool"}, {"OnesLike", infer_same},
    {"Pad", infer_pad}, {"Pow", infer_broadcast}, {"PreventGradient", infer_same}, {"Prod", infer_reduce},
    {"RandomStandardNormal", infer_fill, "dtype"}, {"RandomUniform", infer_fill, "dtype"}, {"RealDiv", infer_broadcast},
    {"Reciprocal", infer_same}, {"ReciprocalGrad", infer_same}, {"Relu", infer_same}, {"Relu6", infer_same},
    {"Relu6Grad", infer_same}, {"ReluGrad", infer_same}, {"Reshape", infer_reshape}, {"Rint", infer_same},
    {"Round", infer_same}, {"Rsqrt", infer_same}, {"RsqrtGrad", infer_same}, {"Selu", infer_same},
    {"SeluGrad", infer_same}, {"Shape", infer_shape, "out_type"}, {"Sigmoid", infer_same}, {"SigmoidGrad", infer_same},
    {"Sign", infer_same}, {"Sin", infer_same}, {"Sinh", infer_same}, {"Snapshot", infer_same}, {"Softmax", infer_same},
    {"SoftmaxCrossEntropyWithLogits", infer_cross_entropy}, {"Softplus", infer_same}, {"SoftplusGrad", infer_same},
    {"Softsign", infer_same}, {"SparseSoftmaxCrossEntropyWithLogits", infer_cross_entropy}, {"Split", infer_split},
    {"Sqrt", infer_same}, {"SqrtGrad", infer_same}, {"Square", infer_same}, {"SquaredDifference", infer_broadcast},
    {"Squeeze", infer_squeeze}, {"StopGradient", infer_same}, {"Sub", infer_broadcast}, {"Sum", infer_reduce},
    {"Tan", infer_same}, {"Tanh", infer_same}, {"TanhGrad", infer_same},
    {"TemporaryVariable", infer_attribute, "dtype"}, {"Transpose", infer_transpose}, {"TruncateDiv", infer_broadcast},
    {"TruncateMod", infer_broadcast}, {"TruncatedNormal", infer_fill, "dtype"},
    {"VarIsInitializedOp", infer_scalar, "bool"}, {"ZerosLike", infer_same}, {"_CopyFromGpuToHost", infer_same},
    {"_CopyFromHostToGpu", infer_same},
});
// clang-format on
static_assert(std::is_sorted(kRules.begin(), kRules.end(), [](const Rule& a, const Rule& b) { return a.op < b.op; }));

constexpr std::array<std::string_view, 3> kInputs = {"Placeholder", "PlaceholderV2", "_Arg"};
constexpr std::array<std::string_view, 3> kVariables = {"VarHandleOp", "Variable", "VariableV2"};
constexpr auto kSameState =
    std::to_array<std::string_view>({"Assign", "AssignAdd", "AssignSub", "DestroyTemporaryVariable", "ReadVariableOp",
                                     "RefIdentity", "ScatterAdd", "ScatterSub", "ScatterUpdate", "_ReadVariable"});
constexpr std::array<std::string_view, 7> kNoOutput = {
    "Assert", "AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "ControlTrigger", "NoOp", "_Retval"};
constexpr std::array<std::string_view, 3> kLoops = {"Enter", "NextIteration", "RefEnter"};

// nullptr: the operator has none.
const Rule* rule_of(std::string_view op) {
  const auto* rule = std::lower_bound(kRules.begin(), kRules.end(), op,
                                      [](const Rule& one, std::string_view wanted) { return one.op < wanted; });
  return rule == kRules.end() || rule->op != op ? nullptr : rule;
}

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

NodeKind kind_of_op(std::string_view op) {
  if (op == "Const") return NodeKind::constant;
  if (has(kInputs, op)) return NodeKind::input;
  if (has(kVariables, op)) return NodeKind::variable;
  if (has(kSameState, op)) return NodeKind::same_state;
  if (has(kNoOutput, op)) return NodeKind::no_output;
  return has(kLoops, op) ? NodeKind::loop : NodeKind::ordinary;
}

bool writes_variable(std::string_view op) {
  return op.starts_with("Assign") || op.starts_with("Scatter") || op.starts_with("ResourceScatter") ||
         op.starts_with("ResourceApply") || op.starts_with("Apply");
}

std::size_t least_outputs(const NodeView& node) {
  if (kind_of_op(node.op()) == NodeKind::no_output) return 0;
  if (node.op() != "Split") return 1;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(node.integer("num_split", 1), 1, 65'536));
}

bool has_all_outputs(const NodeView& node) { return node.op() == "Split"; }

bool has_rule(std::string_view op) { return rule_of(op) != nullptr; }

SameShape same_shape(std::string_view op) {
  if (op == "Assign") return SameShape::all;
  const Rule* rule = rule_of(op);
  if (rule == nullptr) return SameShape::none;
  if (rule->infer == infer_add_n) return SameShape::all;
  if (rule->infer != infer_same || op == "BiasAdd") return SameShape::none;
  return op.ends_with("Grad") && op != "MaxPoolGrad" ? SameShape::all : SameShape::first;
}

void infer_node(NodeTypes& types) {
  const Rule* rule = rule_of(types.node.op());
  if (rule == nullptr) {
    for (KnownTensor& output : types.outputs) output.dtype = types.node.dtype("T");
    return;
  }
  std::optional<DType> dtype = types.node.dtype(rule->type);
  if (rule->type == "bool") dtype = DType::boolean;
  if (rule->type == "out_type" && !dtype) dtype = DType::i32;
  if (!dtype && rule->type == "T" && !types.inputs.empty()) {
    dtype = types.inputs[rule->op == "Split" && types.inputs.size() > 1 ? 1 : 0]->dtype;
  }
  for (KnownTensor& output : types.outputs) output.dtype = dtype;
  rule->infer(types);
}

}  // namespace lowtide::graphdef_internal
