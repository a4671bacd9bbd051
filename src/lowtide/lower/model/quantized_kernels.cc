// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/quantized_kernels.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/standard_operator.h"
#include "lowtide/lower/common/bodies.h"
#include "lowtide/lower/common/waits.h"

namespace lowtide {
namespace {

// 255 * 255 * kMostTerms < 2^31
constexpr std::int64_t kMostTerms = 33'025;

// Operators that give the same integers before a QuantizeLinear as after it, besides Relu. Sorted.
constexpr auto kCommutingOperators =
    std::to_array<std::string_view>({"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "MaxPool",
                                     "Reshape", "Slice", "SpaceToDepth", "Squeeze", "Tile", "Transpose", "Unsqueeze"});

using Operand = std::optional<TensorId>;

// A QuantizeLinear or DequantizeLinear.
struct Conversion {
  NodeId node;
  TensorId from;
  TensorId scale;
  TensorId zero;
  TensorId to;
  bool is_per_tensor = true;
  std::int64_t axis = 1;  // otherwise
};

// How a real tensor becomes integers.
struct Wanted {
  NodeId quantize;
  bool is_direct = false;         // the QuantizeLinear, or `skipped`, is the reader
  std::optional<NodeId> skipped;  // a Relu that does nothing to integers
};

std::int64_t elements_of(const Tensor& tensor) {
  std::int64_t count = 1;
  for (std::int64_t extent : tensor.shape.extents()) count *= extent;
  return count;
}

class QuantizedRewriter {
 public:
  explicit QuantizedRewriter(const Graph& graph)
      : graph_(graph),
        rewriter_(graph),
        has_waits_(lower_internal::nodes_with_waits(graph)),
        wanted_(graph.tensors().size()),
        integers_(graph.tensors().size()),
        content_(graph.tensors().size()) {
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) content_[id] = id;
  }

  Result<std::optional<Rewritten>> run() && {
    for (std::size_t left = graph_.nodes().size(); left > 0; --left) {
      note_wanted(NodeId(static_cast<std::uint32_t>(left - 1)));
    }
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) visit(id);
    if (is_changed_) rewriter_.remove_unused();
    return lower_internal::finish_with_bodies(graph_, std::move(rewriter_), &use_quantized_kernels);
  }

 private:
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return graph_.tensor(id); }
  [[nodiscard]] bool is_constant(TensorId id) const { return tensor(id).role == Role::constant; }

  // A conversion between f32 and integers of 8 bits with constant scales.
  [[nodiscard]] std::optional<Conversion> conversion(NodeId id, std::string_view type) const {
    const Node& node = graph_.node(id);
    if (!is_standard(graph_.op(id), type) || has_waits_.test(id) || node.inputs.size() != 3) return {};
    if (!node.inputs[0] || !node.inputs[1] || !node.inputs[2] || node.outputs.size() != 1 || !node.outputs[0])
      return {};
    const auto* block = find_attribute<std::int64_t>(node.attributes, "block_size");
    const auto* axis = find_attribute<std::int64_t>(node.attributes, "axis");
    if ((block != nullptr && *block != 0) || !is_constant(*node.inputs[1]) || !is_constant(*node.inputs[2])) return {};
    const bool is_quantize = type == "QuantizeLinear";
    const DType real = tensor(is_quantize ? *node.inputs[0] : *node.outputs[0]).dtype;
    const DType integer = tensor(is_quantize ? *node.outputs[0] : *node.inputs[0]).dtype;
    const Tensor& scale = tensor(*node.inputs[1]);
    const Tensor& zero = tensor(*node.inputs[2]);
    if (real != DType::f32 || !is_byte(integer) || scale.dtype != DType::f32 || zero.dtype != integer) return {};
    if (elements_of(scale) != elements_of(zero)) return {};
    return Conversion{.node = id,
                      .from = *node.inputs[0],
                      .scale = *node.inputs[1],
                      .zero = *node.inputs[2],
                      .to = *node.outputs[0],
                      .is_per_tensor = elements_of(scale) == 1,
                      .axis = axis == nullptr ? 1 : *axis};
  }
  [[nodiscard]] std::optional<Conversion> quantize(NodeId id) const {
    const std::optional<Conversion> found = conversion(id, "QuantizeLinear");
    return found && found->is_per_tensor ? found : std::nullopt;
  }
  // The DequantizeLinear that computes a tensor.
  [[nodiscard]] std::optional<Conversion> dequantize(const Operand& id) const {
    if (!id || !tensor(*id).producer) return {};
    return conversion(*tensor(*id).producer, "DequantizeLinear");
  }
  [[nodiscard]] std::optional<Conversion> dequantize_all(const Operand& id) const {
    const std::optional<Conversion> found = dequantize(id);
    return found && found->is_per_tensor ? found : std::nullopt;
  }

  [[nodiscard]] bool have_same_bytes(TensorId a, TensorId b) const {
    if (a == b) return true;
    const auto* known = graph_.known_integers(a);
    const auto* other = graph_.known_integers(b);
    if (known != nullptr && other != nullptr) return *known == *other && tensor(a).dtype == tensor(b).dtype;
    return tensor(a).constant && tensor(a).constant == tensor(b).constant;
  }
  [[nodiscard]] bool have_same_scale(const Conversion& a, const Conversion& b) const {
    return have_same_bytes(a.scale, b.scale) && have_same_bytes(a.zero, b.zero);
  }

  // Whether the node has one result, which is f32.
  [[nodiscard]] bool has_one_result(NodeId id) const {
    const Node& node = graph_.node(id);
    return !has_waits_.test(id) && !node.inputs.empty() && node.inputs[0] && node.outputs.size() == 1 &&
           node.outputs[0] && tensor(*node.outputs[0]).dtype == DType::f32;
  }
  [[nodiscard]] bool is_relu(NodeId id) const {
    return is_standard(graph_.op(id), "Relu") && has_one_result(id) && graph_.node(id).inputs.size() == 1;
  }
  [[nodiscard]] bool commutes(NodeId id) const {
    const Operator& op = graph_.op(id);
    const std::vector<Operand>& inputs = graph_.node(id).inputs;
    return std::ranges::binary_search(kCommutingOperators, std::string_view(op.type)) && is_standard(op, op.type) &&
           has_one_result(id) && std::ranges::all_of(inputs, [](const Operand& input) { return input.has_value(); });
  }
  // How many of the inputs have the elements of the result.
  [[nodiscard]] std::size_t moved_inputs(NodeId id) const {
    return graph_.op(id).type == "Concat" ? graph_.node(id).inputs.size() : 1;
  }

  // Visits readers before producers.
  void note_wanted(NodeId id) {
    const auto note = [&](TensorId operand, Wanted wanted) {
      const bool is_temporary = tensor(operand).role == Role::temporary && !graph_.is_needed_at_end(operand);
      if (is_temporary && graph_.readers(operand).size() == 1) wanted_[operand] = wanted;
    };
    if (const std::optional<Conversion> found = quantize(id)) return note(found->from, {id, true, {}});
    if (!is_relu(id) && !commutes(id)) return;
    const std::optional<Wanted>& after = wanted_[*graph_.node(id).outputs[0]];
    if (!after) return;
    if (is_relu(id)) {
      // The Max with a zero point of one element must not add an axis.
      const Tensor& zero = tensor(quantize(after->quantize)->zero);
      if (zero.shape.rank() > tensor(*graph_.node(id).outputs[0]).shape.rank()) return;
      return note(*graph_.node(id).inputs[0], relu_wants(id, *after));
    }
    for (std::size_t at = 0; at < moved_inputs(id); ++at) {
      note(*graph_.node(id).inputs[at], {after->quantize, false, {}});
    }
  }

  [[nodiscard]] Wanted relu_wants(NodeId id, const Wanted& after) const {
    const Conversion found = *quantize(after.quantize);
    const auto* zero = graph_.known_integers(found.zero);
    const std::int64_t least = tensor(found.zero).dtype == DType::i8 ? std::numeric_limits<std::int8_t>::min() : 0;
    const bool does_nothing = zero != nullptr && zero->front() == least;
    if (does_nothing && after.is_direct && !after.skipped) return {after.quantize, true, id};
    return {after.quantize, false, {}};
  }

  void visit(NodeId id) {
    if (const std::optional<Conversion> found = quantize(id)) return visit_quantize(*found);
    const std::vector<Operand>& outputs = graph_.node(id).outputs;
    if (outputs.size() != 1 || !outputs[0] || !wanted_[*outputs[0]]) return;
    if (is_relu(id)) return replace_relu(id);
    if (commutes(id)) return replace_movement(id);
    if (!has_one_result(id)) return;
    if (is_standard(graph_.op(id), "Conv")) replace_convolution(id);
    if (is_standard(graph_.op(id), "MatMul")) replace_product(id, false);
    if (is_standard(graph_.op(id), "Gemm") && is_plain_gemm(id)) replace_product(id, true);
  }

  // Leaves out a QuantizeLinear that undoes a DequantizeLinear.
  void visit_quantize(const Conversion& found) {
    if (integers_[found.from]) return;  // merged into the producer
    const std::optional<Conversion> before = dequantize_all(found.from);
    if (!before || !have_same_scale(*before, found) || graph_.is_needed_at_end(found.to)) return;
    if (tensor(found.to).shape != tensor(before->from).shape) return;
    content_[found.to] = content_[before->from];
    rewriter_.replace_uses(found.to, content_[found.to]);
    rewriter_.remove_node(found.node);
    is_changed_ = true;
  }

  void replace_relu(NodeId id) {
    const Node& node = graph_.node(id);
    const Operand& integers = integers_[*node.inputs[0]];
    const Conversion to = *quantize(wanted_[*node.outputs[0]]->quantize);
    if (!integers || wanted_[*node.inputs[0]]->skipped == id) return;
    GraphBuilder::NodeSpec spec{.name = node.name, .type = "Max", .inputs = {integers, to.zero}};
    replace(id, std::move(spec));
  }

  void replace_movement(NodeId id) {
    GraphBuilder::NodeSpec spec = rewriter_.node(id);
    const Conversion to = *quantize(wanted_[*graph_.node(id).outputs[0]]->quantize);
    // With one operand in integers, its producer computes no real tensor, so the others are quantized before the node.
    bool has_integers = false;
    bool are_all = true;
    for (std::size_t at = 0; at < moved_inputs(id); ++at) {
      const TensorId operand = *graph_.node(id).inputs[at];
      has_integers = has_integers || integers_[operand];
      are_all = are_all && (integers_[operand] || dequantize_all(operand));
    }
    if (!has_integers && !are_all) return;
    for (std::size_t at = 0; at < moved_inputs(id); ++at) {
      spec.inputs[at] = integers_of(*graph_.node(id).inputs[at], to);
    }
    replace(id, std::move(spec));
  }

  // The integers of a real operand with the scale of a QuantizeLinear.
  TensorId integers_of(TensorId operand, const Conversion& to) {
    if (integers_[operand]) return *integers_[operand];
    const std::optional<Conversion> before = dequantize_all(operand);
    if (before && have_same_scale(*before, to)) return content_[before->from];
    const TensorId made =
        rewriter_.add_tensor({.name = "", .dtype = tensor(to.to).dtype, .shape = tensor(operand).shape}, {operand});
    GraphBuilder::NodeSpec spec = rewriter_.node(to.node);
    spec.inputs[0] = operand;
    spec.outputs = {made};
    rewriter_.add_node(std::move(spec), {to.node});
    return made;
  }

  // Whether a conversion has one scale, or one per entry of an axis.
  [[nodiscard]] bool is_per_entry(const Conversion& weights, std::int64_t axis) const {
    if (weights.is_per_tensor) return true;
    const Shape& shape = tensor(weights.from).shape;
    const std::int64_t given = weights.axis < 0 ? weights.axis + shape.rank() : weights.axis;
    return given == axis && tensor(weights.scale).shape.rank() == 1 && tensor(weights.zero).shape.rank() == 1;
  }

  void replace_convolution(NodeId id) {
    const Node& node = graph_.node(id);
    const std::optional<Conversion> x = dequantize_all(node.inputs[0]);
    const std::optional<Conversion> w = node.inputs.size() > 1 ? dequantize(node.inputs[1]) : std::nullopt;
    if (!x || !w || !is_per_entry(*w, 0)) return;
    const Tensor& weights = tensor(w->from);
    if (weights.shape.rank() < 3 || weights.shape[0] == 0) return;
    if (elements_of(weights) / weights.shape[0] > kMostTerms) return;
    GraphBuilder::NodeSpec spec = product_of(id, *x, *w);
    spec.type = kQuantizedConvType;
    spec.attributes = node.attributes;
    if (node.inputs.size() > 2 && node.inputs[2]) {
      spec.domain = kOwnDomain;
      spec.inputs.push_back(node.inputs[2]);
    }
    replace(id, std::move(spec));
  }

  [[nodiscard]] bool is_plain_gemm(NodeId id) const {
    const Node& node = graph_.node(id);
    for (const Attribute& attribute : node.attributes) {
      const auto* number = std::get_if<double>(&attribute.value);
      const auto* flag = std::get_if<std::int64_t>(&attribute.value);
      if ((attribute.name == "alpha" || attribute.name == "beta") && (number == nullptr || *number != 1)) return false;
      if (attribute.name == "transA" && (flag == nullptr || *flag != 0)) return false;
    }
    if (node.inputs.size() < 3 || !node.inputs[2]) return true;
    const Shape& bias = tensor(*node.inputs[2]).shape;
    const Shape& result = tensor(*node.outputs[0]).shape;
    return bias.rank() == 1 && result.rank() == 2 && bias[0] == result[1];
  }

  void replace_product(NodeId id, bool is_gemm) {
    const Node& node = graph_.node(id);
    const std::optional<Conversion> a = dequantize_all(node.inputs[0]);
    const std::optional<Conversion> b = node.inputs.size() > 1 ? dequantize(node.inputs[1]) : std::nullopt;
    if (!a || !b) return;
    const auto* flag = is_gemm ? find_attribute<std::int64_t>(node.attributes, kTransposeAttribute) : nullptr;
    const bool is_transposed = flag != nullptr && *flag != 0;
    const Shape& left = tensor(a->from).shape;
    const int right_rank = tensor(b->from).shape.rank();
    if (left.rank() < 1 || left[left.rank() - 1] > kMostTerms) return;
    if (!b->is_per_tensor && (right_rank != 2 || !is_per_entry(*b, is_transposed ? 0 : 1))) return;
    GraphBuilder::NodeSpec spec = product_of(id, *a, *b);
    spec.type = kQuantizedMatMulType;
    if (is_transposed) spec.attributes = {{std::string(kTransposeAttribute), std::int64_t{1}}};
    if (node.inputs.size() > 2 && node.inputs[2]) spec.inputs.push_back(node.inputs[2]);
    if (is_transposed || spec.inputs.size() > 8) spec.domain = kOwnDomain;
    replace(id, std::move(spec));
  }

  // The operands that all products have.
  [[nodiscard]] GraphBuilder::NodeSpec product_of(NodeId id, const Conversion& left, const Conversion& right) const {
    const Conversion to = *quantize(wanted_[*graph_.node(id).outputs[0]]->quantize);
    return {.name = graph_.node(id).name,
            .inputs = {content_[left.from], left.scale, left.zero, content_[right.from], right.scale, right.zero,
                       to.scale, to.zero}};
  }

  // Gives a node its integer result.
  void replace(NodeId id, GraphBuilder::NodeSpec spec) {
    const TensorId output = *graph_.node(id).outputs[0];
    const Wanted& wanted = *wanted_[output];
    const Tensor& quantized = tensor(*graph_.node(wanted.quantize).outputs[0]);
    const TensorId result =
        wanted.is_direct
            ? *graph_.node(wanted.quantize).outputs[0]
            : rewriter_.add_tensor({.name = "", .dtype = quantized.dtype, .shape = tensor(output).shape}, {output});
    integers_[output] = result;
    spec.outputs = {result};
    rewriter_.replace_node(id, std::move(spec));
    if (wanted.skipped) {
      integers_[*graph_.node(*wanted.skipped).outputs[0]] = result;
      rewriter_.merge_node(*wanted.skipped, id);
    }
    if (wanted.is_direct) rewriter_.merge_node(wanted.quantize, id);
    is_changed_ = true;
  }

  const Graph& graph_;
  GraphRewriter rewriter_;
  Flags<NodeId> has_waits_;
  IdVector<TensorId, std::optional<Wanted>> wanted_;  // of real tensors
  IdVector<TensorId, Operand> integers_;              // of real tensors: the integers that are computed instead
  IdVector<TensorId, TensorId> content_;              // the tensor that is read instead
  bool is_changed_ = false;
};

}  // namespace

Result<std::optional<Rewritten>> use_quantized_kernels(const Graph& graph) { return QuantizedRewriter(graph).run(); }

}  // namespace lowtide
