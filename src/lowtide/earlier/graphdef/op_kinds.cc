// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/op_kinds.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lowtide::graphdef_internal {
namespace {

using Names = std::string_view;

constexpr auto kInputs = std::to_array<Names>({"Placeholder", "PlaceholderV2", "_Arg"});
constexpr auto kVariables = std::to_array<Names>({"VarHandleOp", "Variable", "VariableV2"});
constexpr auto kSameState = std::to_array<Names>(
    {"Assign", "AssignAdd", "AssignSub", "DestroyTemporaryVariable", "ReadVariableOp", "RefIdentity", "_ReadVariable"});
constexpr auto kNoOutput =
    std::to_array<Names>({"Assert", "AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "ControlTrigger",
                          "DestroyResourceOp", "NoOp", "_Retval"});
constexpr auto kLoops = std::to_array<Names>({"Enter", "NextIteration", "RefEnter"});

constexpr auto kViews =
    std::to_array<Names>({"Bitcast", "CheckNumerics", "EnsureShape", "ExpandDims", "Identity", "IdentityN",
                          "PreventGradient", "RefIdentity", "Reshape", "Squeeze", "StopGradient"});

// The optimizers, without "Apply", "SparseApply", "ResourceApply" and "ResourceSparseApply" before them: the variable
// and its slots.
constexpr auto kOptimizers = std::to_array<std::pair<std::string_view, std::size_t>>({
    {"AdaMax", 3},
    {"Adadelta", 3},
    {"Adagrad", 2},
    {"AdagradDA", 3},
    {"AdagradV2", 2},
    {"Adam", 3},
    {"AdamWithAmsgrad", 4},
    {"AddSign", 2},
    {"CenteredRMSProp", 4},
    {"Ftrl", 3},
    {"FtrlV2", 3},
    {"GradientDescent", 1},
    {"KerasMomentum", 2},
    {"Momentum", 2},
    {"PowerSign", 2},
    {"ProximalAdagrad", 2},
    {"ProximalGradientDescent", 1},
    {"RMSProp", 3},
});

// The operators whose number of outputs is an attribute.
constexpr auto kCounted = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"ConcatOffset", "N"},
    {"ShapeN", "N"},
    {"Split", "num_split"},
    {"SplitV", "num_split"},
    {"Unpack", "num"},
});

template <typename List>
bool has(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Operators of other libraries, such as "Onnx>ScatterElements".
bool is_of_library(std::string_view op) { return op.find('>') != std::string_view::npos; }

// ScatterNd and ScatterNdNonAliasingAdd make a tensor; the others change a variable.
bool is_scatter(std::string_view op) {
  return !is_of_library(op) && op.starts_with("Scatter") && op != "ScatterNd" && op != "ScatterNdNonAliasingAdd";
}

bool is_optimizer(std::string_view op) {
  return !is_of_library(op) && (op.starts_with("Apply") || op.starts_with("SparseApply"));
}

bool is_resource_update(std::string_view op) {
  return op.starts_with("ResourceApply") || op.starts_with("ResourceSparseApply") || op.starts_with("ResourceScatter");
}

template <typename List>
auto found_in(const List& list, std::string_view name) {
  return std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.first == name; });
}

}  // namespace

NodeKind kind_of_op(std::string_view op) {
  if (op == "Const") return NodeKind::constant;
  if (has(kInputs, op)) return NodeKind::input;
  if (has(kVariables, op)) return NodeKind::variable;
  if (has(kSameState, op) || is_scatter(op) || is_optimizer(op)) return NodeKind::same_state;
  if (has(kNoOutput, op) || is_resource_update(op)) return NodeKind::no_output;
  return has(kLoops, op) ? NodeKind::loop : NodeKind::ordinary;
}

std::size_t count_written(std::string_view op) {
  if (op.starts_with("Assign") || is_scatter(op) || op.starts_with("ResourceScatter")) return 1;
  if (!is_optimizer(op) && !is_resource_update(op)) return 0;
  const auto* found = found_in(kOptimizers, op.substr(op.find("Apply") + 5));
  return found == kOptimizers.end() ? 1 : found->second;
}

bool is_view_of_input(std::string_view op) { return has(kViews, op); }

bool is_random(std::string_view op) {
  return op.starts_with("Random") || op == "TruncatedNormal" || op == "Multinomial";
}

std::size_t least_outputs(const NodeView& node) {
  if (kind_of_op(node.op()) == NodeKind::no_output) return 0;
  const auto* found = found_in(kCounted, node.op());
  if (found == kCounted.end()) return 1;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(node.integer(found->second, 1), 1, 65'536));
}

bool has_all_outputs(const NodeView& node) { return found_in(kCounted, node.op()) != kCounted.end(); }

}  // namespace lowtide::graphdef_internal
