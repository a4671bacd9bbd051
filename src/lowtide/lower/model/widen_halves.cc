// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/widen_halves.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/graph/standard_operator.h"
#include "lowtide/lower/common/bodies.h"

namespace lowtide {
namespace {

// clang-format off
// The operators whose kernels need their real operands and results in f32. Sorted.
constexpr auto kComputing = std::to_array<std::string_view>({
    "Attention", "AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "CumSum", "DeformConv", "Einsum",
    "GRU", "Gemm", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "GridSample", "GroupNormalization",
    "Hardmax", "InstanceNormalization", "LRN", "LSTM", "LayerNormalization", "LogSoftmax", "LpNormalization",
    "LpPool", "MatMul", "MaxPool", "MeanVarianceNormalization", "RMSNormalization", "RNN", "ReduceL1", "ReduceL2",
    "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
    "ReduceSumSquare", "Resize", "RotaryEmbedding", "Softmax", "TopK",
});
static_assert(std::ranges::is_sorted(kComputing));

// The operators that move data, or convert element by element without memory for it. Sorted.
constexpr auto kFollowing = std::to_array<std::string_view>({
    "Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Clip", "Concat", "Cos", "Cosh",
    "DepthToSpace", "Div", "Dropout", "Elu", "Equal", "Erf", "Exp", "Expand", "Flatten", "Floor", "Gather", "Gelu",
    "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Less", "LessOrEqual", "Log",
    "Max", "Mean", "Min", "Mish", "Mul", "Neg", "PRelu", "Pad", "Pow", "Reciprocal", "Relu", "Reshape", "Round",
    "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Slice", "Softplus", "Softsign", "SpaceToDepth", "Split",
    "Sqrt", "Squeeze", "Sub", "Sum", "Swish", "Tan", "Tanh", "ThresholdedRelu", "Tile", "Transpose", "Unsqueeze",
    "Where",
});
static_assert(std::ranges::is_sorted(kFollowing));
// clang-format on

class HalfWidener {
 public:
  explicit HalfWidener(const Graph& graph) : graph_(graph), rewriter_(graph) {}

  Result<std::optional<Rewritten>> run() && {
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (is_widened(id)) widen(id);
    }
    rewriter_.remove_unused();
    return lower_internal::finish_with_bodies(graph_, std::move(rewriter_), &widen_halves);
  }

 private:
  [[nodiscard]] bool is_half(const std::optional<TensorId>& id) const {
    return id && graph_.tensor(*id).dtype == DType::f16;
  }

  [[nodiscard]] bool is_widened(NodeId id) const {
    const Operator& op = graph_.op(id);
    if (!is_standard(op)) return false;
    const Node& node = graph_.node(id);
    const auto half = [&](const auto& tensor) { return is_half(tensor); };
    if (std::ranges::binary_search(kComputing, std::string_view(op.type)))
      return std::ranges::any_of(node.inputs, half) || std::ranges::any_of(node.outputs, half);
    const auto comes_from_wide = [&](const std::optional<TensorId>& tensor) {
      return is_half(tensor) && made_.contains(*tensor);
    };
    return std::ranges::binary_search(kFollowing, std::string_view(op.type)) &&
           std::ranges::any_of(node.inputs, comes_from_wide);
  }

  TensorId add_wide(TensorId half) {
    const Tensor& tensor = graph_.tensor(half);
    const std::string name = tensor.name + std::string(kWideSuffix);
    return rewriter_.add_tensor({.name = name, .dtype = DType::f32, .shape = tensor.shape}, {half});
  }

  void add_cast(TensorId from, TensorId to, DType dtype, std::vector<NodeId> origins) {
    rewriter_.add_node(
        {.type = "Cast", .inputs = {from}, .outputs = {to}, .attributes = {{"to", onnx_number_of(dtype)}}},
        std::move(origins));
  }

  TensorId wide_of(TensorId half, NodeId reader) {
    const auto [known, is_new] = wide_.try_emplace(half, half);
    if (is_new) {
      known->second = add_wide(half);
      add_cast(half, known->second, DType::f32, {reader});
    }
    return known->second;
  }

  void widen(NodeId id) {
    GraphBuilder::NodeSpec spec = rewriter_.node(id);
    for (std::optional<TensorId>& input : spec.inputs) {
      if (is_half(input)) input = wide_of(*input, id);
    }
    std::vector<std::pair<TensorId, TensorId>> results;
    for (std::optional<TensorId>& output : spec.outputs) {
      if (!is_half(output)) continue;
      const TensorId wide = add_wide(*output);
      wide_.emplace(*output, wide);
      made_.emplace(*output, wide);
      results.emplace_back(wide, *output);
      output = wide;
    }
    rewriter_.replace_node(id, std::move(spec));
    // What still reads f16 gets it. remove_unused() removes the cast if nothing does.
    for (const auto& [wide, half] : results) add_cast(wide, half, DType::f16, {id});
  }

  const Graph& graph_;
  GraphRewriter rewriter_;
  std::map<TensorId, TensorId> wide_;  // f16 tensors, and their values in f32
  std::map<TensorId, TensorId> made_;  // those of them that a widened node makes
};

}  // namespace

Result<std::optional<Rewritten>> widen_halves(const Graph& graph) {
  // A model that has such names keeps its f16.
  const bool has_names = std::ranges::any_of(
      graph.tensors(), [](const Tensor& tensor) { return std::string_view(tensor.name).ends_with(kWideSuffix); });
  if (has_names) return std::optional<Rewritten>();
  return HalfWidener(graph).run();
}

}  // namespace lowtide
