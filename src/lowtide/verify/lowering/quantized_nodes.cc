// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/quantized_nodes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/verify/lowering/conversions.h"

namespace lowtide::verify_internal {
namespace {

using Operand = std::optional<TensorId>;

// The most products of two integers of 8 bits, less their zero points, whose sum fits into 32 bits.
constexpr std::int64_t kMostTerms = std::numeric_limits<std::int32_t>::max() / (255 * 255);

// Operators whose results are elements of their first operand, or of all operands of a Concat. Which elements these are
// depends on their order alone.
constexpr std::array<std::string_view, 14> kElementsOfOperands = {
    "Concat",  "DepthToSpace", "Expand",       "Flatten", "Gather", "Identity",  "MaxPool",
    "Reshape", "Slice",        "SpaceToDepth", "Squeeze", "Tile",   "Transpose", "Unsqueeze"};

bool is_lowered(const Operator& op, std::string_view type) { return op.domain == kOwnDomain && op.type == type; }

std::string shown(const Graph& graph, NodeId id) {
  return "node " + quoted(graph.node(id).name) + " (" + graph.op(id).type + ")";
}

}  // namespace

// The QuantizeLinear whose integers are computed.
struct QuantizedNodes::Target {
  NodeId node;
  ScaledConversion quantize;
  TensorId result;
};

QuantizedNodes::QuantizedNodes(const ModelTensors& tensors, const Graph& lowered)
    : tensors_(tensors),
      model_(tensors.model()),
      lowered_(lowered),
      is_integers_(lowered.tensors().size()),
      work_(lowered.nodes().size()) {
  for (NodeId id : all_ids<NodeId>(lowered.nodes().size())) {
    const std::vector<Operand>& outputs = lowered.node(id).outputs;
    const Operator& op = lowered.op(id);
    if (outputs.size() != 1 || !outputs[0] || is_standard(op, "QuantizeLinear") || is_lowered(op, kChainType)) continue;
    const Operand result = tensors.find(lowered, *outputs[0]);
    const std::optional<NodeId> quantize = result ? model_.tensor(*result).producer : std::nullopt;
    if (quantize && is_standard(model_.op(*quantize), "QuantizeLinear")) work_[id] = check_all(id, *quantize);
  }
}

FusedNodes QuantizedNodes::check_all(NodeId last, NodeId quantize) {
  const std::optional<ScaledConversion> found = conversion(model_, quantize, "QuantizeLinear");
  if (!found || !is_for_all_elements(model_, *found)) return {{}, "differs from its node in the model"};
  const Target target{quantize, *found, *model_.node(quantize).outputs[0]};
  FusedNodes work{{quantize}, ""};
  std::vector<Step> left = {{last, found->from}};
  while (!left.empty() && work.fault.empty()) {
    const Step step = left.back();
    left.pop_back();
    work.fault = check(target, step, work, left);
    if (step.node != last) work_[step.node] = FusedNodes{};
    if (!work.fault.empty() && step.node != last)
      work.fault = "reads " + shown(lowered_, step.node) + ", which " + work.fault;
  }
  return work;
}

std::string QuantizedNodes::check(const Target& target, Step step, FusedNodes& work, std::vector<Step>& left) {
  const Operator& op = lowered_.op(step.node);
  const Node& node = lowered_.node(step.node);
  if (node.outputs.size() != 1 || !node.outputs[0] || !node.bodies.empty()) return "has other results in the model";
  const Tensor& result = lowered_.tensor(*node.outputs[0]);
  if (result.dtype != model_.tensor(target.result).dtype || result.shape != model_.tensor(step.real).shape)
    return "has a result of another type in the model";
  if (is_lowered(op, kChainType)) {
    FusedNodes chain = nodes_of_chain(tensors_, lowered_, step.node, LastOfChain{target.node, step.real});
    work.nodes.insert(work.nodes.end(), chain.nodes.begin(), chain.nodes.end());
    return std::move(chain.fault);
  }
  if (is_standard(op, "QuantizeLinear")) {
    const bool is_same =
        have_same_attributes(node, model_.node(target.node)) &&
        tensors_.read_same(std::vector<Operand>{step.real, target.quantize.scale, target.quantize.zero}, lowered_,
                           node.inputs);
    return is_same ? "" : "differs from " + shown(model_, target.node) + " of the model";
  }
  // The copies of the model may be left out.
  const auto producer_of = [&](TensorId real) {
    const std::optional<NodeId> direct = model_.tensor(real).producer;
    const bool is_kept_copy = direct && is_standard(op, "Identity") && is_standard(model_.op(*direct), "Identity");
    return is_kept_copy ? direct : model_.tensor(tensors_.content_of(real)).producer;
  };
  std::optional<NodeId> was = producer_of(step.real);
  const auto* zero = model_.known_integers(target.quantize.zero);
  const std::int64_t least = result.dtype == DType::i8 ? std::numeric_limits<std::int8_t>::min() : 0;
  const bool has_no_negatives = zero != nullptr && zero->size() == 1 && zero->front() == least;
  if (was && is_standard(model_.op(*was), "Relu") && !is_standard(op, "Max") && has_no_negatives) {
    work.nodes.push_back(*was);
    was = producer_of(*model_.node(*was).inputs[0]);
  }
  if (!was) return "computes what no node of the model computes";
  work.nodes.push_back(*was);
  if (is_standard(op, "QLinearConv") || is_lowered(op, kQuantizedConvType))
    return check_convolution(target, step.node, *was);
  if (is_standard(op, "QLinearMatMul") || is_lowered(op, kQuantizedMatMulType))
    return check_product(target, step.node, *was);
  return check_moved(target, step.node, *was, left);
}

// Checks an operand that must be the integers of a real tensor with the scale of the target.
std::string QuantizedNodes::take_integers(const Target& target, NodeId reader, std::size_t at, TensorId real,
                                          std::vector<Step>& left) {
  const Operand operand = lowered_.node(reader).inputs[at];
  if (!operand) return "omits an operand that it has in the model";
  if (const Operand found = tensors_.find(lowered_, *operand)) {
    const std::optional<ScaledConversion> before =
        conversion(model_, model_.tensor(tensors_.content_of(real)).producer, "DequantizeLinear");
    const bool is_same = before && tensors_.have_same_content(before->from, *found) &&
                         have_same_bytes(model_, before->scale, target.quantize.scale) &&
                         have_same_bytes(model_, before->zero, target.quantize.zero);
    return is_same ? "" : "reads " + quoted(lowered_.tensor(*operand).name) + ", which has another scale in the model";
  }
  const std::optional<NodeId> producer = lowered_.tensor(*operand).producer;
  if (!producer || !is_integers_.insert(*operand) || lowered_.readers(*operand).size() != 1 ||
      lowered_.is_needed_at_end(*operand))
    return "reads " + quoted(lowered_.tensor(*operand).name) + ", which is not computed for it alone";
  left.push_back({*producer, real});
  return "";
}

// A Relu, or a node that moves elements.
std::string QuantizedNodes::check_moved(const Target& target, NodeId id, NodeId was, std::vector<Step>& left) {
  const Node& now = lowered_.node(id);
  const Node& before = model_.node(was);
  std::string differs = "differs from " + shown(model_, was) + " of the model";
  if (is_standard(model_.op(was), "Relu")) {
    const bool is_max = is_standard(lowered_.op(id), "Max") && now.inputs.size() == 2 && now.attributes.empty() &&
                        tensors_.reads_same(target.quantize.zero, lowered_, now.inputs[1]);
    return is_max ? take_integers(target, id, 0, *before.inputs[0], left) : differs;
  }
  const std::string& type = model_.op(was).type;
  const bool is_same = std::ranges::find(kElementsOfOperands, type) != kElementsOfOperands.end() &&
                       is_standard(model_.op(was), type) && is_standard(lowered_.op(id), type) &&
                       have_same_attributes(now, before) && now.inputs.size() == before.inputs.size() &&
                       before.outputs.size() == 1;
  if (!is_same) return differs;
  for (std::size_t at = 0; at < now.inputs.size(); ++at) {
    if (at == 0 || type == "Concat") {
      if (!before.inputs[at]) return differs;
      std::string fault = take_integers(target, id, at, *before.inputs[at], left);
      if (!fault.empty()) return fault;
    } else if (!tensors_.reads_same(before.inputs[at], lowered_, now.inputs[at])) {
      return differs;
    }
  }
  return "";
}

// Whether a product reads the integers of the operands that it has in the model. The second one may have a scale per
// entry of an axis.
bool QuantizedNodes::reads_operands(const Target& target, NodeId id, NodeId was, std::int64_t axis) const {
  const Node& now = lowered_.node(id);
  const Node& before = model_.node(was);
  if (before.inputs.size() < 2 || !before.inputs[0] || !before.inputs[1]) return false;
  const auto integers_of = [&](TensorId real) {
    return conversion(model_, model_.tensor(tensors_.content_of(real)).producer, "DequantizeLinear");
  };
  const std::optional<ScaledConversion> a = integers_of(*before.inputs[0]);
  const std::optional<ScaledConversion> b = integers_of(*before.inputs[1]);
  if (!a || !b || !is_for_all_elements(model_, *a)) return false;
  if (!is_for_all_elements(model_, *b)) {
    const NodeId dequantize = *model_.tensor(tensors_.content_of(*before.inputs[1])).producer;
    const double given = number_of(model_.node(dequantize), "axis", 1);
    const int rank = model_.tensor(b->from).shape.rank();
    if ((given < 0 ? given + rank : given) != static_cast<double>(axis)) return false;
    if (model_.tensor(b->scale).shape.rank() != 1 || model_.tensor(b->zero).shape.rank() != 1) return false;
  }
  std::vector<Operand> wanted = {
      a->from, a->scale, a->zero, b->from, b->scale, b->zero, target.quantize.scale, target.quantize.zero};
  const bool has_bias = before.inputs.size() > 2 && before.inputs[2];
  if (has_bias) wanted.push_back(before.inputs[2]);
  return (!has_bias || lowered_.op(id).domain == kOwnDomain) && tensors_.read_same(wanted, lowered_, now.inputs);
}

std::string QuantizedNodes::check_convolution(const Target& target, NodeId id, NodeId was) const {
  const Node& now = lowered_.node(id);
  const bool is_same = is_standard(model_.op(was), "Conv") && have_same_attributes(now, model_.node(was)) &&
                       reads_operands(target, id, was, 0);
  if (!is_same) return "differs from " + shown(model_, was) + " of the model";
  const Shape& weights = model_.tensor(*model_.node(was).inputs[1]).shape;
  if (weights.rank() < 1 || weights[0] == 0 || count_of(weights) / weights[0] > kMostTerms)
    return "adds more products than 32 bits hold";
  return "";
}

std::string QuantizedNodes::check_product(const Target& target, NodeId id, NodeId was) const {
  const Node& now = lowered_.node(id);
  const Node& before = model_.node(was);
  std::string differs = "differs from " + shown(model_, was) + " of the model";
  const bool is_gemm = is_standard(model_.op(was), "Gemm");
  if (!is_gemm && !is_standard(model_.op(was), "MatMul")) return differs;
  const bool is_transposed = is_gemm && number_of(before, "transB", 0) != 0;
  if (is_gemm &&
      (number_of(before, "alpha", 1) != 1 || number_of(before, "beta", 1) != 1 || number_of(before, "transA", 0) != 0))
    return differs;
  std::vector<Attribute> attributes;
  if (is_transposed) attributes = {{std::string(kTransposeAttribute), std::int64_t{1}}};
  if (now.attributes != attributes || (is_transposed && lowered_.op(id).domain != kOwnDomain)) return differs;
  const Shape& left = model_.tensor(*before.inputs[0]).shape;
  const Shape& right = model_.tensor(*before.inputs[1]).shape;
  if (!reads_operands(target, id, was, is_transposed ? 0 : right.rank() == 2 ? 1 : -1)) return differs;
  if (before.inputs.size() > 2 && before.inputs[2]) {
    const Shape& bias = model_.tensor(*before.inputs[2]).shape;
    if (bias.rank() != 1 || bias[0] != model_.tensor(*before.outputs[0]).shape[1]) return differs;
  }
  return left.rank() < 1 || left[left.rank() - 1] > kMostTerms ? "adds more products than 32 bits hold" : "";
}

}  // namespace lowtide::verify_internal
