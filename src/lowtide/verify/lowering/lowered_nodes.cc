// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/lowered_nodes.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "lowtide/base/quote.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/lowering/conversions.h"
#include "lowtide/verify/lowering/lowered_formats.h"

namespace lowtide::verify_internal {
namespace {

bool is_own(const Operator& op, std::string_view type) { return op.domain == kOwnDomain && op.type == type; }

bool have_same_type(const Tensor& a, const Tensor& b) { return a.dtype == b.dtype && a.shape == b.shape; }

const Attribute* attribute_of(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.attributes, name, &Attribute::name);
  return found == node.attributes.end() ? nullptr : &*found;
}

using Inputs = std::vector<std::optional<TensorId>>;

// A constant of a folded convolution, and what it must be.
struct ScaledConstant {
  TensorId tensor;  // of the lowered graph
  std::string_view type;
  Inputs inputs;  // of the model
  double epsilon = 0;
  TensorId like;  // the tensor of the model that has its type
};

// The node that computes a tensor, and its graph: the lowered graph or the load-time work.
struct Source {
  const Graph* graph = nullptr;
  NodeId node;
};
std::optional<Source> source_of(const Graph& lowered, TensorId id, const LoadTimeResults* load) {
  const Tensor& tensor = lowered.tensor(id);
  if (tensor.producer) return Source{&lowered, *tensor.producer};
  if (tensor.role != Role::constant || load == nullptr) return std::nullopt;
  const std::optional<NodeId> producer = load->producer_of(tensor.name);
  return producer ? std::optional(Source{&load->graph(), *producer}) : std::nullopt;
}

// The weights of a product before they were packed, and the graph that has them.
struct Weights {
  const Graph* graph = nullptr;
  TensorId tensor;
};

// Those that a lowtide::Pack puts into the order of a node. `other` is the attribute that both have beside the order.
std::optional<Weights> packed_weights_of(const Graph& lowered, NodeId product, const LoadTimeResults* load,
                                         std::string_view other) {
  const Node& node = lowered.node(product);
  if (node.inputs.size() < 2 || !node.inputs[1]) return std::nullopt;
  const std::optional<Source> source = source_of(lowered, *node.inputs[1], load);
  if (!source || !is_own(source->graph->op(source->node), kPackType)) return std::nullopt;
  const Node& pack = source->graph->node(source->node);
  if (pack.attributes.size() != 2) return std::nullopt;
  for (const std::string_view name : {kOrderAttribute, other}) {
    const Attribute* wanted = attribute_of(node, name);
    const Attribute* found = attribute_of(pack, name);
    if (wanted == nullptr || found == nullptr || found->value != wanted->value) return std::nullopt;
  }
  const bool has_one = pack.inputs.size() == 1 && pack.inputs[0] && pack.outputs.size() == 1 && pack.outputs[0];
  if (!has_one || !have_same_type(source->graph->tensor(*pack.outputs[0]), lowered.tensor(*node.inputs[1])))
    return std::nullopt;
  return Weights{source->graph, *pack.inputs[0]};
}

// Those of a convolution, packed or as in the model.
std::optional<Weights> weights_of(const Graph& lowered, NodeId conv, const LoadTimeResults* load) {
  const Node& node = lowered.node(conv);
  if (is_own(lowered.op(conv), kConvType)) return packed_weights_of(lowered, conv, load, "group");
  if (node.inputs.size() < 2 || !node.inputs[1]) return std::nullopt;
  return Weights{&lowered, *node.inputs[1]};
}

// Whether a tensor is stored as in the model.
bool is_as_in_model(const ModelTensors& tensors, const Graph& lowered, TensorId id) {
  const std::optional<TensorId> was = tensors.find(lowered, id);
  return was && have_same_type(lowered.tensor(id), tensors.model().tensor(*was));
}

// Whether a Conv of the standard domain reads and writes what the model has.
bool are_as_in_model(const ModelTensors& tensors, const Graph& lowered, NodeId conv, const Node& was) {
  const Node& now = lowered.node(conv);
  return now.inputs[0] && is_as_in_model(tensors, lowered, *now.inputs[0]) &&
         is_as_in_model(tensors, lowered, *now.outputs[0]) && was.inputs[0].has_value();
}

bool is_scaled(const ModelTensors& tensors, const Graph& lowered, const LoadTimeResults* load,
               const ScaledConstant& wanted) {
  if (!have_same_type(lowered.tensor(wanted.tensor), tensors.model().tensor(wanted.like))) return false;
  const std::optional<Source> source = source_of(lowered, wanted.tensor, load);
  if (!source || !is_own(source->graph->op(source->node), wanted.type)) return false;
  const Node& node = source->graph->node(source->node);
  const std::vector<Attribute> attributes = {{std::string(kEpsilonAttribute), wanted.epsilon}};
  return node.attributes == attributes && tensors.read_same(wanted.inputs, *source->graph, node.inputs) &&
         std::ranges::all_of(node.inputs, [&](const std::optional<TensorId>& input) {
           return input && is_as_in_model(tensors, *source->graph, *input);
         });
}

std::string shown_node(const Graph& graph, NodeId id) {
  return "node " + quoted(graph.node(id).name) + " (" + graph.op(id).type + ")";
}

bool have_same_work(const Graph& a, NodeId of_a, const Graph& b, NodeId of_b) {
  return a.op(of_a).domain == b.op(of_b).domain && a.op(of_a).type == b.op(of_b).type &&
         have_same_attributes(a.node(of_a), b.node(of_b)) && a.node(of_a).bodies.empty() && b.node(of_b).bodies.empty();
}

}  // namespace

LoadTimeResults::LoadTimeResults(const Graph& load) : load_(load) {
  for (TensorId id : load.outputs()) by_name_.emplace(load.tensor(id).name, id);
}

std::optional<NodeId> LoadTimeResults::producer_of(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : load_.tensor(found->second).producer;
}

namespace {

// The lanes of all tensors of a chain in blocks that have more than one element. 1: a chain on tensors as in the model.
// nullopt: the tensors do not fit each other, or nothing writes zeros into the lanes without a channel.
std::optional<std::int64_t> lanes_of_chain(const ModelTensors& tensors, const Graph& lowered, NodeId chain) {
  const Node& node = lowered.node(chain);
  const std::optional<TensorId> was = tensors.find(lowered, *node.outputs[0]);
  if (!was) return 1;  // refused where its results are compared
  const Tensor& result = tensors.model().tensor(*was);
  const std::optional<std::int64_t> lanes = lanes_of(lowered.tensor(*node.outputs[0]), result);
  const std::optional<std::int64_t> channels = chain_channels(node);
  if (!lanes || (*lanes == 1 && channels)) return std::nullopt;
  if (*lanes > 1 && (channels ? *channels != result.shape[1] : result.shape[1] % *lanes != 0)) return std::nullopt;
  for (const std::optional<TensorId>& input : node.inputs) {
    const std::optional<TensorId> read = tensors.find(lowered, *input);
    if (!read) continue;  // refused where operands are compared
    const Tensor& now = lowered.tensor(*input);
    const Tensor& of_model = tensors.model().tensor(*read);
    if (*lanes == 1 ? lanes_of(now, of_model) != 1 : !is_aligned(now, of_model, {result, *lanes})) return std::nullopt;
  }
  return lanes;
}

}  // namespace

FusedNodes nodes_of_chain(const ModelTensors& tensors, const Graph& lowered, NodeId chain,
                          const std::optional<LastOfChain>& last) {
  FusedNodes found;
  const Result<Graph> program = chain_program(lowered, chain);
  if (!program) return {{}, "has a program that is not valid: " + program.error().message};
  const Graph& model = tensors.model();
  const std::optional<std::int64_t> lanes = lanes_of_chain(tensors, lowered, chain);
  if (!lanes) return {{}, "has another format than its operands"};
  // What the tensors of the program are in the model. Operands correspond by position, and results by name.
  IdVector<TensorId, std::optional<TensorId>> was(program->tensors().size());
  for (std::size_t at = 0; at < program->inputs().size(); ++at) {
    was[program->inputs()[at]] = tensors.find(lowered, *lowered.node(chain).inputs[at]);
  }
  for (NodeId id : all_ids<NodeId>(program->nodes().size())) {
    const TensorId result = *program->node(id).outputs[0];
    const bool is_last = last && result == program->outputs()[0];
    was[result] = is_last ? model.node(last->quantize).outputs[0] : tensors.find(*program, result);
    const std::optional<NodeId> node = was[result] ? model.tensor(*was[result]).producer : std::nullopt;
    if (!node) return {{}, "computes " + quoted(program->tensor(result).name) + ", which the model does not compute"};
    bool is_same = have_same_work(*program, id, model, *node) &&
                   program->tensor(result).dtype == model.tensor(*was[result]).dtype &&
                   (is_last ? program->tensor(result).shape == model.tensor(last->real).shape
                            : lanes_of(program->tensor(result), model.tensor(*was[result])) == lanes) &&
                   model.node(*node).outputs.size() == 1 &&
                   model.node(*node).inputs.size() == program->node(id).inputs.size();
    for (std::size_t at = 0; is_same && at < program->node(id).inputs.size(); ++at) {
      const std::optional<TensorId> read = program->node(id).inputs[at];
      const std::optional<TensorId> in_model = is_last && at == 0 ? last->real : model.node(*node).inputs[at];
      is_same = read && in_model ? was[*read] && tensors.have_same_content(*was[*read], *in_model)
                                 : read.has_value() == in_model.has_value();
    }
    if (!is_same) return {{}, "differs from " + shown_node(model, *node) + " of the model"};
    if (!is_last) found.nodes.push_back(*node);
  }
  const TensorId result = program->outputs()[0];
  if (!last && was[result] != tensors.find(lowered, *lowered.node(chain).outputs[0])) {
    return {{}, "returns " + quoted(program->tensor(result).name) + " under another name"};
  }
  return found;
}

bool makes_weights(const Operator& op) {
  return is_own(op, kScaledWeightsType) || is_own(op, kScaledBiasType) || is_own(op, kPackType);
}

bool is_made_weight(const Graph& lowered, TensorId tensor, const LoadTimeResults* load) {
  const std::optional<Source> source = source_of(lowered, tensor, load);
  return source && makes_weights(source->graph->op(source->node));
}

bool is_reordered_constant(const Graph& lowered, TensorId tensor, const LoadTimeResults* load) {
  if (lowered.tensor(tensor).role != Role::constant) return false;
  const std::optional<Source> source = source_of(lowered, tensor, load);
  return source && is_reorder(source->graph->op(source->node)) &&
         have_same_type(lowered.tensor(tensor), source->graph->tensor(*source->graph->node(source->node).outputs[0]));
}

bool is_convolution_of(const ModelTensors& tensors, const Graph& lowered, NodeId conv, const LoadTimeResults* load,
                       NodeId original) {
  const Node& now = lowered.node(conv);
  const Node& was = tensors.model().node(original);
  if (!is_own(lowered.op(conv), kConvType) || !is_standard(tensors.model().op(original), "Conv")) return false;
  if (now.inputs.size() != was.inputs.size() || !is_formatted_convolution(tensors, lowered, conv, original))
    return false;
  const std::optional<Weights> weights = weights_of(lowered, conv, load);
  const Inputs data = {now.inputs[0], now.inputs.size() > 2 ? now.inputs[2] : std::nullopt};
  const Inputs in_model = {was.inputs[0], was.inputs.size() > 2 ? was.inputs[2] : std::nullopt};
  return weights && tensors.reads_same(was.inputs[1], *weights->graph, weights->tensor) &&
         have_same_type(weights->graph->tensor(weights->tensor), tensors.model().tensor(*was.inputs[1])) &&
         tensors.read_same(in_model, lowered, data);
}

namespace {

// Whether a product reads the same tensors, stored as in the model, beside its weights.
bool reads_same_others(const ModelTensors& tensors, const Graph& lowered, const Node& now, const Node& was) {
  Inputs others = now.inputs;
  Inputs in_model = was.inputs;
  others[1] = in_model[1] = std::nullopt;
  return tensors.read_same(in_model, lowered, others) &&
         std::ranges::all_of(others, [&](const std::optional<TensorId>& input) {
           return !input || is_as_in_model(tensors, lowered, *input);
         });
}

// Whether a Gemm only adds products, and a bias that is one row.
bool is_plain_gemm(const ModelTensors& tensors, const Node& gemm) {
  if (number_or(gemm, "alpha", 1) != 1 || number_or(gemm, "beta", 1) != 1) return false;
  const Attribute* first = attribute_of(gemm, "transA");
  if (first != nullptr && first->value != AttributeValue(std::int64_t{0})) return false;
  if (gemm.inputs.size() < 3 || !gemm.inputs[2]) return true;
  const Shape& bias = tensors.model().tensor(*gemm.inputs[2]).shape;
  const Shape& result = tensors.model().tensor(*gemm.outputs[0]).shape;
  return result.rank() == 2 && (bias == Shape({result[1]}) || bias == Shape({1, result[1]}));
}

}  // namespace

bool is_matrix_product_of(const ModelTensors& tensors, const Graph& lowered, NodeId product,
                          const LoadTimeResults* load, NodeId original) {
  const Node& now = lowered.node(product);
  const Node& was = tensors.model().node(original);
  const Operator& old_op = tensors.model().op(original);
  const bool is_general = is_standard(old_op, kGemmType);
  if (!is_own(lowered.op(product), kPackedMatMulType) || !(is_general || is_standard(old_op, kMatMulType)))
    return false;
  if (now.inputs.size() != was.inputs.size() || was.inputs.size() < 2 || !was.inputs[1] || now.outputs.size() != 1)
    return false;
  if (is_general && !is_plain_gemm(tensors, was)) return false;
  const Tensor& matrix = tensors.model().tensor(*was.inputs[1]);
  const Attribute* transposed = is_general ? attribute_of(was, kTransposeAttribute) : nullptr;
  const bool is_transposed = transposed != nullptr && transposed->value != AttributeValue(std::int64_t{0});
  const Attribute* extents = attribute_of(now, kWeightsAttribute);
  const Attribute* says_transposed = attribute_of(now, kTransposeAttribute);
  const std::optional<Weights> weights = packed_weights_of(lowered, product, load, kTransposeAttribute);
  return now.attributes.size() == 3 && extents != nullptr && says_transposed != nullptr && weights &&
         matrix.shape.rank() == 2 && extents->value == AttributeValue(matrix.shape.extents()) &&
         says_transposed->value == AttributeValue(std::int64_t{is_transposed ? 1 : 0}) &&
         tensors.reads_same(was.inputs[1], *weights->graph, weights->tensor) &&
         have_same_type(weights->graph->tensor(weights->tensor), matrix) &&
         are_as_in_model(tensors, lowered, product, was) && reads_same_others(tensors, lowered, now, was);
}

bool has_folded(const ModelTensors& tensors, const Graph& lowered, NodeId conv, const LoadTimeResults* load,
                NodeId norm) {
  const Graph& model = tensors.model();
  const Node& batch = model.node(norm);
  if (!is_standard(model.op(norm), "BatchNormalization") || !reads_statistics(batch) || batch.inputs.size() != 5)
    return false;
  if (!std::ranges::all_of(batch.inputs, [](const auto& input) { return input.has_value(); })) return false;
  const std::optional<NodeId> before = model.tensor(tensors.content_of(*batch.inputs[0])).producer;
  if (!before || !is_standard(model.op(*before), "Conv")) return false;
  const Node& was = model.node(*before);
  const Node& now = lowered.node(conv);
  if (was.inputs.size() < 2 || !was.inputs[0] || !was.inputs[1] || now.inputs.size() != 3 || !now.inputs[1] ||
      !now.inputs[2] || now.outputs.size() != 1 || !now.outputs[0] || now.name != batch.name)
    return false;
  const bool is_same =
      is_standard(lowered.op(conv), "Conv")
          ? have_same_attributes(now, was) && are_as_in_model(tensors, lowered, conv, was)
          : is_own(lowered.op(conv), kConvType) && is_formatted_convolution(tensors, lowered, conv, *before);
  const std::optional<Weights> weights = weights_of(lowered, conv, load);
  if (!is_same || !weights) return false;
  const Inputs& of = batch.inputs;
  const double epsilon = number_or(batch, "epsilon", 1e-5);
  Inputs of_bias = {of[1], of[2], of[3], of[4]};
  if (was.inputs.size() > 2 && was.inputs[2]) of_bias.push_back(was.inputs[2]);
  return tensors.reads_same(was.inputs[0], lowered, now.inputs[0]) &&
         tensors.find(lowered, *now.outputs[0]) == batch.outputs[0] &&
         is_scaled(tensors, *weights->graph, weights->graph == &lowered ? load : nullptr,
                   {weights->tensor, kScaledWeightsType, {was.inputs[1], of[1], of[4]}, epsilon, *was.inputs[1]}) &&
         is_scaled(tensors, lowered, load, {*now.inputs[2], kScaledBiasType, of_bias, epsilon, *of[2]});
}

std::string load_time_fault(const ModelTensors& tensors, const Graph& load) {
  const Graph& model = tensors.model();
  for (TensorId id : all_ids<TensorId>(load.tensors().size())) {
    const std::optional<TensorId> was = tensors.find(load, id);
    if (!was || load.tensor(id).role != Role::constant || model.known_integers(*was) != nullptr) continue;
    if (model.tensor(*was).is_captured) continue;  // compared in the graph that has it
    if (model.tensor(*was).role != Role::constant || model.tensor(*was).constant != load.tensor(id).constant)
      return "constant " + quoted(load.tensor(id).name) + " of the load-time work has other bytes in the model";
  }
  for (NodeId id : all_ids<NodeId>(load.nodes().size())) {
    if (makes_weights(load.op(id))) continue;
    if (is_reorder(load.op(id))) {
      const auto is_known = [&](const std::optional<TensorId>& one) { return one && tensors.find(load, *one); };
      if (std::ranges::none_of(load.node(id).inputs, is_known) && std::ranges::none_of(load.node(id).outputs, is_known))
        continue;  // of a body
      std::string fault = reorder_fault(tensors, load, id);
      if (!fault.empty()) return fault;
      continue;
    }
    const Node& now = load.node(id);
    const auto present =
        std::ranges::find_if(now.outputs, [](const std::optional<TensorId>& output) { return output.has_value(); });
    const std::optional<TensorId> was = present == now.outputs.end() ? std::nullopt : tensors.find(load, **present);
    if (!was) continue;  // of a body, or without results that a run could read
    const std::optional<NodeId> node = model.tensor(*was).producer;
    bool is_same = node && have_same_work(load, id, model, *node) &&
                   tensors.read_same(model.node(*node).inputs, load, now.inputs) &&
                   model.node(*node).outputs.size() == now.outputs.size() &&
                   have_fitting_formats(tensors, load, id, *node);
    for (std::size_t at = 0; is_same && at < now.outputs.size(); ++at) {
      const std::optional<TensorId>& output = now.outputs[at];
      is_same = output ? tensors.find(load, *output) == model.node(*node).outputs[at] : !model.node(*node).outputs[at];
    }
    if (!is_same) return shown_node(load, id) + " of the load-time work differs from its node in the model";
  }
  return "";
}

}  // namespace lowtide::verify_internal
