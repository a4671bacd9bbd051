// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/plan/lowered_nodes.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "lowtide/base/quote.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/plan/conversions.h"

namespace lowtide::verify_internal {
namespace {

bool is_own(const Operator& op, std::string_view type) { return op.domain == kOwnDomain && op.type == type; }

bool have_same_type(const Tensor& a, const Tensor& b) { return a.dtype == b.dtype && a.shape == b.shape; }

bool is_copy(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  const Node& node = graph.node(id);
  const bool copies = is_standard(op, "Identity") || is_standard(op, "Cast") ||
                      (is_standard(op, "Dropout") && !may_be_training(graph, id));
  return copies && !node.inputs.empty() && node.inputs[0] && !node.outputs.empty() && node.outputs[0] &&
         have_same_type(graph.tensor(*node.inputs[0]), graph.tensor(*node.outputs[0]));
}

// The number of an attribute, which may be absent.
double number_or(const Node& node, std::string_view name, double otherwise) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name != name) continue;
    if (const auto* real = std::get_if<double>(&attribute.value)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) return static_cast<double>(*integer);
  }
  return otherwise;
}

// Whether a BatchNormalization reads its mean and variance, instead of computing them.
bool reads_statistics(const Node& norm) {
  const bool has_one_result = std::count_if(norm.outputs.begin(), norm.outputs.end(),
                                            [](const auto& output) { return output.has_value(); }) == 1;
  const bool is_for_training = number_or(norm, kSinceAttribute, 14) < 7 && number_or(norm, "is_test", 0) == 0;
  return has_one_result && norm.outputs[0] && !is_for_training && number_or(norm, "training_mode", 0) == 0 &&
         number_or(norm, "spatial", 1) == 1;
}

bool are_same_numbers(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool are_same(const Attribute& a, const Attribute& b) {
  if (a.name != b.name || a.value.index() != b.value.index()) return false;
  if (const auto* number = std::get_if<double>(&a.value)) return are_same_numbers(*number, std::get<double>(b.value));
  if (const auto* numbers = std::get_if<std::vector<double>>(&a.value)) {
    return std::ranges::equal(*numbers, std::get<std::vector<double>>(b.value), are_same_numbers);
  }
  return a.value == b.value;
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

bool is_scaled(const ModelTensors& tensors, const Graph& lowered, const LoadTimeResults* load,
               const ScaledConstant& wanted) {
  if (!have_same_type(lowered.tensor(wanted.tensor), tensors.model().tensor(wanted.like))) return false;
  const std::optional<Source> source = source_of(lowered, wanted.tensor, load);
  if (!source || !is_own(source->graph->op(source->node), wanted.type)) return false;
  const Node& node = source->graph->node(source->node);
  const std::vector<Attribute> attributes = {{std::string(kEpsilonAttribute), wanted.epsilon}};
  return node.attributes == attributes && tensors.read_same(wanted.inputs, *source->graph, node.inputs);
}

std::string shown_node(const Graph& graph, NodeId id) {
  return "node " + quoted(graph.node(id).name) + " (" + graph.op(id).type + ")";
}

bool have_same_work(const Graph& a, NodeId of_a, const Graph& b, NodeId of_b) {
  return a.op(of_a).domain == b.op(of_b).domain && a.op(of_a).type == b.op(of_b).type &&
         have_same_attributes(a.node(of_a), b.node(of_b)) && a.node(of_a).bodies.empty() && b.node(of_b).bodies.empty();
}

}  // namespace

bool have_same_attributes(const Node& a, const Node& b) {
  return std::ranges::equal(a.attributes, b.attributes, are_same);
}

ModelTensors::ModelTensors(const Graph& model) : model_(model), content_(model.tensors().size()) {
  for (TensorId id : all_ids<TensorId>(model.tensors().size())) {
    by_name_.emplace(model.tensor(id).name, id);
    content_[id] = id;
  }
  for (NodeId id : all_ids<NodeId>(model.nodes().size())) {
    if (is_copy(model, id)) content_[*model.node(id).outputs[0]] = content_[*model.node(id).inputs[0]];
    if (const auto same = same_integers(model, id, content_)) content_[*model.node(id).outputs[0]] = content_[*same];
  }
}

std::optional<TensorId> ModelTensors::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

bool ModelTensors::reads_same(std::optional<TensorId> in_model, const Graph& graph,
                              std::optional<TensorId> operand) const {
  if (!in_model || !operand) return in_model.has_value() == operand.has_value();
  const std::optional<TensorId> found = find(graph, *operand);
  return found && have_same_content(*found, *in_model);
}

LoadTimeResults::LoadTimeResults(const Graph& load) : load_(load) {
  for (TensorId id : load.outputs()) by_name_.emplace(load.tensor(id).name, id);
}

std::optional<NodeId> LoadTimeResults::producer_of(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : load_.tensor(found->second).producer;
}

FusedNodes nodes_of_chain(const ModelTensors& tensors, const Graph& lowered, NodeId chain,
                          const std::optional<LastOfChain>& last) {
  FusedNodes found;
  const Result<Graph> program = chain_program(lowered, chain);
  if (!program) return {{}, "has a program that is not valid: " + program.error().message};
  const Graph& model = tensors.model();
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
                   program->tensor(result).shape == model.tensor(is_last ? last->real : *was[result]).shape &&
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

bool makes_scaled_constant(const Operator& op) { return is_own(op, kScaledWeightsType) || is_own(op, kScaledBiasType); }

bool is_scaled_constant(const Graph& lowered, TensorId tensor, const LoadTimeResults* load) {
  const std::optional<Source> source = source_of(lowered, tensor, load);
  return source && makes_scaled_constant(source->graph->op(source->node));
}

bool has_folded(const ModelTensors& tensors, const Graph& lowered, NodeId conv, const LoadTimeResults* load,
                NodeId norm) {
  const Graph& model = tensors.model();
  const Node& batch = model.node(norm);
  if (!is_standard(model.op(norm), "BatchNormalization") || !reads_statistics(batch) || batch.inputs.size() != 5)
    return false;
  if (!std::ranges::all_of(batch.inputs, [](const auto& input) { return input.has_value(); })) return false;
  const std::optional<NodeId> before = model.tensor(tensors.content_of(*batch.inputs[0])).producer;
  if (!before || !is_standard(model.op(*before), "Conv") || !is_standard(lowered.op(conv), "Conv")) return false;
  const Node& was = model.node(*before);
  const Node& now = lowered.node(conv);
  if (was.inputs.size() < 2 || !was.inputs[1] || now.inputs.size() != 3 || !now.inputs[1] || !now.inputs[2] ||
      now.outputs.size() != 1 || !now.outputs[0] || !have_same_attributes(now, was) || now.name != batch.name)
    return false;
  const Inputs& of = batch.inputs;
  const double epsilon = number_or(batch, "epsilon", 1e-5);
  Inputs of_bias = {of[1], of[2], of[3], of[4]};
  if (was.inputs.size() > 2 && was.inputs[2]) of_bias.push_back(was.inputs[2]);
  return tensors.reads_same(was.inputs[0], lowered, now.inputs[0]) &&
         tensors.find(lowered, *now.outputs[0]) == batch.outputs[0] &&
         is_scaled(tensors, lowered, load,
                   {*now.inputs[1], kScaledWeightsType, {was.inputs[1], of[1], of[4]}, epsilon, *was.inputs[1]}) &&
         is_scaled(tensors, lowered, load, {*now.inputs[2], kScaledBiasType, of_bias, epsilon, *of[2]});
}

std::string load_time_fault(const ModelTensors& tensors, const Graph& load) {
  const Graph& model = tensors.model();
  for (TensorId id : all_ids<TensorId>(load.tensors().size())) {
    const std::optional<TensorId> was = tensors.find(load, id);
    if (!was || load.tensor(id).role != Role::constant || model.known_integers(*was) != nullptr) continue;
    if (model.tensor(*was).role != Role::constant || model.tensor(*was).constant != load.tensor(id).constant)
      return "constant " + quoted(load.tensor(id).name) + " of the load-time work has other bytes in the model";
  }
  for (NodeId id : all_ids<NodeId>(load.nodes().size())) {
    if (makes_scaled_constant(load.op(id))) continue;
    const Node& now = load.node(id);
    const auto present =
        std::ranges::find_if(now.outputs, [](const std::optional<TensorId>& output) { return output.has_value(); });
    const std::optional<TensorId> was = present == now.outputs.end() ? std::nullopt : tensors.find(load, **present);
    if (!was) continue;  // of a body, or without results that a run could read
    const std::optional<NodeId> node = model.tensor(*was).producer;
    bool is_same = node && have_same_work(load, id, model, *node) &&
                   tensors.read_same(model.node(*node).inputs, load, now.inputs) &&
                   model.node(*node).outputs.size() == now.outputs.size();
    for (std::size_t at = 0; is_same && at < now.outputs.size(); ++at) {
      const std::optional<TensorId>& output = now.outputs[at];
      is_same = output ? tensors.find(load, *output) == model.node(*node).outputs[at] : !model.node(*node).outputs[at];
    }
    if (!is_same) return shown_node(load, id) + " of the load-time work differs from its node in the model";
  }
  return "";
}

}  // namespace lowtide::verify_internal
