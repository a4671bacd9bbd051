// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/estimate/integer_operators.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/lowered.h"

namespace lowtide {
namespace {

// Operators that commute with a QuantizeLinear of their first operand. Sorted.
constexpr auto kCommuting =
    std::to_array<std::string_view>({"Clip", "DepthToSpace", "Flatten", "Identity", "MaxPool", "Relu", "Reshape",
                                     "Slice", "SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze"});

bool may_be_dequantized(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

// The integers that stand for a real tensor.
struct IntegerForm {
  TensorId tensor;
  NodeId conversion;  // the DequantizeLinear or QuantizeLinear with its scale and zero point
};

// The QuantizeLinear that makes integers of a tensor: it reads the tensor itself, or the result of operators that
// commute with it.
struct Quantization {
  NodeId node;
  bool reads_it = false;
};

Flags<TensorId> constants_of(const Graph& graph) {
  Flags<TensorId> constants(graph.tensors().size());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).role == Role::constant) constants.set(id);
  }
  return constants;
}

class IntegerRewriter {
 public:
  // `is_constant`: the constants of the graph, and those of outer graphs that it captures.
  IntegerRewriter(const Graph& graph, Flags<TensorId> is_constant)
      : graph_(graph),
        is_constant_(std::move(is_constant)),
        rewriter_(graph),
        quantization_(graph.tensors().size()),
        form_(graph.tensors().size()) {}

  Result<IntegerOperators> run() && {
    find_quantizations();
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      visit(id);
      LOWTIDE_RETURN_IF_ERROR(rewrite_bodies(id));
    }
    // Without such operators, no node is removed.
    if (operators_ > 0) rewriter_.remove_unused();
    Result<Rewritten> rewritten = std::move(rewriter_).finish();
    if (!rewritten) return rewritten.error();
    return IntegerOperators{*std::move(rewritten), operators_};
  }

 private:
  [[nodiscard]] bool is_constant(const std::optional<TensorId>& tensor) const {
    return !tensor || is_constant_.test(*tensor);
  }

  // Whether all inputs but the first are constants or omitted, and the first input and output exist.
  [[nodiscard]] bool has_one_operand(NodeId id) const {
    const Node& node = graph_.node(id);
    return !node.inputs.empty() && node.inputs[0] && node.outputs.size() == 1 && node.outputs[0] &&
           std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](const auto& input) {
             return is_constant(input) || graph_.known_integers(*input) != nullptr;
           });
  }

  [[nodiscard]] bool is_conversion(NodeId id, std::string_view type) const {
    return graph_.op(id).type == type && graph_.node(id).inputs.size() >= 2 && has_one_operand(id);
  }
  [[nodiscard]] bool is_quantize(NodeId id) const { return is_conversion(id, "QuantizeLinear"); }
  [[nodiscard]] bool is_dequantize(NodeId id) const { return is_conversion(id, "DequantizeLinear"); }
  [[nodiscard]] bool commutes(NodeId id) const {
    return std::binary_search(kCommuting.begin(), kCommuting.end(), std::string_view(graph_.op(id).type)) &&
           graph_.op(id).domain.empty() && has_one_operand(id);
  }

  // Shape and Size read no element, so they need no real numbers.
  [[nodiscard]] bool reads_shape(NodeId id) const {
    return (graph_.op(id).type == "Shape" || graph_.op(id).type == "Size") && has_one_operand(id);
  }

  [[nodiscard]] bool is_only_reader(NodeId id, TensorId tensor) const {
    const auto readers = graph_.readers(tensor);
    return !graph_.is_needed_at_end(tensor) &&
           std::all_of(readers.begin(), readers.end(), [&](NodeId other) { return other == id || reads_shape(other); });
  }

  // Visits readers before producers.
  void find_quantizations() {
    for (std::size_t left = graph_.nodes().size(); left > 0; --left) {
      const NodeId id(static_cast<std::uint32_t>(left - 1));
      const bool reads_it = is_quantize(id);
      if (!reads_it && !commutes(id)) continue;
      const TensorId operand = *graph_.node(id).inputs[0];
      const auto& after = quantization_[*graph_.node(id).outputs[0]];
      if ((!reads_it && !after) || !is_only_reader(id, operand)) continue;
      quantization_[operand] = Quantization{reads_it ? id : after->node, reads_it};
    }
  }

  void visit(NodeId id) {
    const Node& node = graph_.node(id);
    if (is_dequantize(id)) {
      form_[*node.outputs[0]] = IntegerForm{*node.inputs[0], id};
    } else if (is_quantize(id)) {
      requantize(id);
    } else if (reads_shape(id)) {
      if (const auto& form = form_[*node.inputs[0]]) replace(id, {form->tensor}, node.outputs, false);
    } else if (reads_integers(id) && writes_integers(id)) {
      make_integer(id);
      ++operators_;
    }
  }

  // Recursion is bounded by limits::kMaxBodyNesting.
  Result<void> rewrite_bodies(NodeId id) {
    const std::vector<Body>& bodies = graph_.node(id).bodies;
    for (std::size_t at = 0; at < bodies.size(); ++at) {
      Flags<TensorId> constants = constants_of(*bodies[at].graph);
      for (const auto& [outer, inner] : bodies[at].captures) {
        if (is_constant(outer)) constants.set(inner);
      }
      LOWTIDE_TRY(IntegerOperators body, IntegerRewriter(*bodies[at].graph, std::move(constants)).run());
      if (body.operators == 0) continue;
      operators_ += body.operators;
      rewriter_.replace_body(id, at, std::move(body.rewritten));
    }
    return {};
  }

  // Replaces a QuantizeLinear that reads a dequantized tensor. Others are merged into the operator before them, or
  // remain.
  void requantize(NodeId id) {
    const Node& node = graph_.node(id);
    const std::optional<NodeId>& producer = graph_.tensor(*node.inputs[0]).producer;
    if (!producer || !is_dequantize(*producer)) return;
    replace(id, {graph_.node(*producer).inputs[0]}, node.outputs, true);
  }

  [[nodiscard]] bool reads_integers(NodeId id) const {
    const Operator& op = graph_.op(id);
    const bool converts = op.type == "QuantizeLinear" || op.type == "DequantizeLinear";
    if (converts || !op.traits.is_known || !graph_.node(id).bodies.empty()) return false;
    bool has_form = false;
    for (const std::optional<TensorId>& input : graph_.node(id).inputs) {
      if (is_constant(input) || !may_be_dequantized(graph_.tensor(*input).dtype)) continue;
      if (!form_[*input]) return false;
      has_form = true;
    }
    return has_form;
  }

  [[nodiscard]] bool is_unused(TensorId tensor) const {
    return graph_.readers(tensor).empty() && !graph_.is_needed_at_end(tensor);
  }

  [[nodiscard]] bool writes_integers(NodeId id) const {
    const auto& outputs = graph_.node(id).outputs;
    return std::all_of(outputs.begin(), outputs.end(), [&](const std::optional<TensorId>& output) {
      return !output || quantization_[*output] || is_unused(*output);
    });
  }

  void make_integer(NodeId id) {
    std::vector<std::optional<TensorId>> inputs = graph_.node(id).inputs;
    std::vector<std::optional<TensorId>> outputs = graph_.node(id).outputs;
    std::vector<NodeId> conversions;
    for (std::optional<TensorId>& input : inputs) {
      if (is_constant(input) || !form_[*input]) continue;
      conversions.push_back(form_[*input]->conversion);
      input = form_[*input]->tensor;
    }
    std::vector<NodeId> merged;
    for (std::optional<TensorId>& output : outputs) {
      if (!output || !quantization_[*output]) continue;
      const Quantization& quantization = *quantization_[*output];
      conversions.push_back(quantization.node);
      if (quantization.reads_it) merged.push_back(quantization.node);
      const TensorId result = integer_result(*output, quantization);
      form_[*output] = IntegerForm{result, quantization.node};
      output = result;
    }
    const bool requantizes = graph_.op(id).traits.view != ViewKind::none && have_several_scales(conversions);
    replace(id, std::move(inputs), std::move(outputs), requantizes);
    for (NodeId quantize : merged) rewriter_.merge_node(quantize, id);
  }

  TensorId integer_result(TensorId output, const Quantization& quantization) {
    const TensorId quantized = *graph_.node(quantization.node).outputs[0];
    if (quantization.reads_it) return quantized;
    const Tensor& tensor = graph_.tensor(output);
    return rewriter_.add_tensor({tensor.name, graph_.tensor(quantized).dtype, tensor.shape}, {output});
  }

  // Whether the conversions differ in scale or zero point.
  [[nodiscard]] bool have_several_scales(const std::vector<NodeId>& conversions) const {
    const auto& first = graph_.node(conversions.front()).inputs;
    return std::any_of(conversions.begin(), conversions.end(), [&](NodeId id) {
      const auto& inputs = graph_.node(id).inputs;
      return !std::equal(inputs.begin() + 1, inputs.end(), first.begin() + 1, first.end());
    });
  }

  void replace(NodeId id, std::vector<std::optional<TensorId>> inputs, std::vector<std::optional<TensorId>> outputs,
               bool requantizes) {
    GraphBuilder::NodeSpec spec = rewriter_.node(id);
    if (requantizes) {
      spec.domain = kOwnDomain;
      spec.type = kRequantizeType;
    }
    spec.inputs = std::move(inputs);
    spec.outputs = std::move(outputs);
    rewriter_.replace_node(id, std::move(spec));
  }

  const Graph& graph_;
  const Flags<TensorId> is_constant_;
  GraphRewriter rewriter_;
  IdVector<TensorId, std::optional<Quantization>> quantization_;
  IdVector<TensorId, std::optional<IntegerForm>> form_;
  std::int64_t operators_ = 0;
};

}  // namespace

Result<IntegerOperators> use_integer_operators(const Graph& graph) {
  return IntegerRewriter(graph, constants_of(graph)).run();
}

}  // namespace lowtide
