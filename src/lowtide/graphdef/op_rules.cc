// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graphdef/op_rules.h"

#include <algorithm>
#include <array>

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

struct Rule {
  std::string_view op;
  void (*infer)(NodeTypes& types);
  std::string_view type = "T";  // the attribute with the type of output 0; "bool": always bool
};

// Sorted by operator.
// clang-format off
constexpr auto kRules = std::to_array<Rule>({
    {"Abs", infer_same}, {"Add", infer_broadcast}, {"AddN", infer_same}, {"AddV2", infer_broadcast},
    {"AvgPool", infer_pool}, {"BatchMatMul", infer_batch_mat_mul}, {"BatchMatMulV2", infer_batch_mat_mul},
    {"BiasAdd", infer_same}, {"Cast", infer_same, "DstT"}, {"CheckNumerics", infer_same}, {"ConcatV2", infer_concat},
    {"Conv2D", infer_conv}, {"DepthwiseConv2dNative", infer_depthwise}, {"Elu", infer_same},
    {"Equal", infer_broadcast, "bool"}, {"Erf", infer_same}, {"Exp", infer_same}, {"ExpandDims", infer_expand_dims},
    {"Fill", infer_fill}, {"Floor", infer_same}, {"FusedBatchNorm", infer_batch_norm},
    {"FusedBatchNormV2", infer_batch_norm}, {"FusedBatchNormV3", infer_batch_norm},
    {"Greater", infer_broadcast, "bool"}, {"GreaterEqual", infer_broadcast, "bool"}, {"Identity", infer_same},
    {"IsVariableInitialized", infer_scalar, "bool"},
    {"LRN", infer_same}, {"LeakyRelu", infer_same}, {"Less", infer_broadcast, "bool"},
    {"LessEqual", infer_broadcast, "bool"}, {"Log", infer_same}, {"LogSoftmax", infer_same},
    {"MatMul", infer_mat_mul}, {"Max", infer_reduce}, {"MaxPool", infer_pool}, {"Maximum", infer_broadcast},
    {"Mean", infer_reduce}, {"Min", infer_reduce}, {"Minimum", infer_broadcast}, {"Mul", infer_broadcast},
    {"Neg", infer_same}, {"OnesLike", infer_same}, {"Pad", infer_pad}, {"Pow", infer_broadcast},
    {"PreventGradient", infer_same}, {"Prod", infer_reduce}, {"RandomStandardNormal", infer_fill, "dtype"},
    {"RandomUniform", infer_fill, "dtype"}, {"RealDiv", infer_broadcast}, {"Reciprocal", infer_same},
    {"Relu", infer_same}, {"Relu6", infer_same}, {"Reshape", infer_reshape}, {"Round", infer_same},
    {"Rsqrt", infer_same}, {"Selu", infer_same}, {"Shape", infer_shape, "out_type"}, {"Sigmoid", infer_same},
    {"Sign", infer_same}, {"Softmax", infer_same}, {"Softplus", infer_same}, {"Split", infer_split},
    {"Sqrt", infer_same}, {"Square", infer_same}, {"SquaredDifference", infer_broadcast}, {"Squeeze", infer_squeeze},
    {"StopGradient", infer_same}, {"Sub", infer_broadcast}, {"Sum", infer_reduce}, {"Tanh", infer_same},
    {"Transpose", infer_transpose}, {"TruncatedNormal", infer_fill, "dtype"},
    {"VarIsInitializedOp", infer_scalar, "bool"}, {"ZerosLike", infer_same},
});
// clang-format on
static_assert(std::is_sorted(kRules.begin(), kRules.end(), [](const Rule& a, const Rule& b) { return a.op < b.op; }));

constexpr std::array<std::string_view, 3> kInputs = {"Placeholder", "PlaceholderV2", "_Arg"};
constexpr std::array<std::string_view, 3> kVariables = {"VarHandleOp", "Variable", "VariableV2"};
constexpr std::array<std::string_view, 9> kSameState = {"Assign",         "AssignAdd",     "AssignSub",
                                                        "ReadVariableOp", "RefIdentity",   "ScatterAdd",
                                                        "ScatterSub",     "ScatterUpdate", "_ReadVariable"};
constexpr std::array<std::string_view, 7> kNoOutput = {
    "Assert", "AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "ControlTrigger", "NoOp", "_Retval"};
constexpr std::array<std::string_view, 3> kLoops = {"Enter", "NextIteration", "RefEnter"};

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

void infer_node(NodeTypes& types) {
  const auto* rule = std::lower_bound(kRules.begin(), kRules.end(), types.node.op(),
                                      [](const Rule& one, std::string_view wanted) { return one.op < wanted; });
  if (rule == kRules.end() || rule->op != types.node.op()) {
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
