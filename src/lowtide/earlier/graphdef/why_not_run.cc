// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/why_not_run.h"

#include <algorithm>
#include <array>

#include "lowtide/earlier/graphdef/node_conversion.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr auto kThreeOperands =
    std::to_array<std::string_view>({"ClipByValue", "Conv2DBackpropInput", "MaxPoolV2", "PadV2", "Range", "Select",
                                     "SelectV2", "Slice", "SpaceToBatchND", "BatchToSpaceND", "SplitV"});
constexpr auto kTwoOperands =
    std::to_array<std::string_view>({"All",           "Any",           "ArgMax",        "ArgMin",
                                     "BatchMatMul",   "BatchMatMulV2", "BatchMatMulV3", "BiasAdd",
                                     "BiasAddV1",     "BroadcastTo",   "Concat",        "ConcatV2",
                                     "Conv2D",        "Conv3D",        "Cumsum",        "DepthwiseConv2dNative",
                                     "EuclideanNorm", "Fill",          "Gather",        "GatherNd",
                                     "GatherV2",      "MatMul",        "Max",           "Mean",
                                     "Min",           "MirrorPad",     "Pad",           "Prod",
                                     "ReverseV2",     "Split",         "Sum",           "Tile",
                                     "TopKV2",        "Transpose"});
constexpr auto kBinary = std::to_array<std::string_view>(
    {"Add",          "AddV2",    "Div",       "DivNoNan",   "Equal",     "FloorDiv",          "FloorMod", "Greater",
     "GreaterEqual", "Less",     "LessEqual", "LogicalAnd", "LogicalOr", "Maximum",           "Minimum",  "Mod",
     "Mul",          "MulNoNan", "NotEqual",  "Pow",        "RealDiv",   "SquaredDifference", "Sub",      "TruncateDiv",
     "TruncateMod"});

template <typename List>
bool lists(const List& list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

bool is_for_training(std::string_view op) {
  return op.find("Grad") != std::string_view::npos || op.find("Backprop") != std::string_view::npos ||
         op.find("CrossEntropy") != std::string_view::npos || op.find("Apply") != std::string_view::npos;
}

bool may_depend_on_data(std::string_view op) {
  return op == "Where" || op == "Unique" || op == "UniqueV2" || op.starts_with("NonMaxSuppression") ||
         op == "BooleanMask" || op == "DynamicPartition";
}

}  // namespace

std::string why_not_run(const WalkedNode& node) {
  const std::string_view op = node.view.op();
  if (node.kind == NodeKind::input || node.kind == NodeKind::constant) return "";
  const bool is_variable = node.kind == NodeKind::variable || node.kind == NodeKind::same_state ||
                           node.kind == NodeKind::no_output || op == "IsVariableInitialized" ||
                           op == "VarIsInitializedOp" || op == "ResourceGather";
  if (is_variable && !is_for_training(op)) {
    return "reads or writes a variable; freeze the graph, for example with convert_variables_to_constants_v2";
  }
  if (conversion_of(op) != nullptr) return "";
  if (is_random(op) || op.starts_with("Stateless") || op == "StatefulUniform") {
    return "is random or calls a function; export the graph for inference";
  }
  if (is_for_training(op)) return "is for training; export the graph for inference";
  if (op == "Switch" || op == "Merge" || op == "If" || op == "While" || op.ends_with("PartitionedCall")) {
    return "is control flow; inline functions and fold constant conditions when the graph is frozen";
  }
  if (op.starts_with("Quantize") || op.starts_with("Dequantize") || op.starts_with("FakeQuant")) {
    return "is quantized, and quantized graphs of TensorFlow have no conversion; use the graph of floats";
  }
  if (may_depend_on_data(op)) return "has a result whose size depends on data, which has no conversion";
  return "has no conversion to operators of ONNX; replace it in the graph by operators that have one";
}

std::size_t least_operands(std::string_view op) {
  if (op.starts_with("FusedBatchNorm") || op == "BatchNormWithGlobalNormalization") return 5;
  if (op == "OneHot") return 4;
  if (lists(kThreeOperands, op)) return 3;
  return lists(kTwoOperands, op) || lists(kBinary, op) ? 2 : 1;
}

}  // namespace lowtide::graphdef_internal
