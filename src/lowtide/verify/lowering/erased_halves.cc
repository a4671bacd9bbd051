// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/erased_halves.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"

namespace lowtide::verify_internal {
namespace {

using TensorsByName = std::unordered_map<std::string_view, TensorId>;

TensorsByName tensors_of(const Graph* graph) {
  TensorsByName tensors;
  if (graph == nullptr) return tensors;
  for (TensorId id : all_ids<TensorId>(graph->tensors().size())) tensors.emplace(graph->tensor(id).name, id);
  return tensors;
}

bool is_cast(const Operator& op) { return (op.domain.empty() || op.domain == "ai.onnx") && op.type == "Cast"; }

// Copies one graph. `model` is the graph of the model that it was made from; nullptr: it is not known.
// A constant keeps its f32 copy, because both may be there for different readers, or only the copy after load-time
// work. So the model gets the f32 copies of all constants.
class Eraser {
 public:
  Eraser(const Graph& graph, const Graph* model)
      : graph_(graph),
        model_(model),
        of_model_(tensors_of(model)),
        own_(tensors_of(&graph)),
        builder_(graph.name()),
        tensors_(graph.tensors().size()),
        nodes_(graph.nodes().size()) {}

  Result<Graph> run() && {
    for (TensorId id : graph_.inputs()) add_tensor(id);
    // An f16 tensor comes before its f32 copy, because it has the role that both get.
    for (const bool is_copy : {false, true}) {
      for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
        if ((name_of(id) != graph_.tensor(id).name) == is_copy) add_tensor(id);
      }
    }
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      Result<void> added = add_node(id);
      if (!added) return added.error();
    }
    if (is_model()) add_copies_of_constants();
    std::vector<TensorId> outputs;
    for (TensorId id : graph_.outputs()) outputs.push_back(*tensors_[id]);
    builder_.set_outputs(std::move(outputs));
    for (const StateUpdate& update : graph_.state_updates())
      builder_.add_state_update(*tensors_[update.state], *tensors_[update.next]);
    return std::move(builder_).build();
  }

 private:
  [[nodiscard]] bool is_model() const { return model_ == &graph_; }

  static bool has_half(const Graph* graph, const TensorsByName& tensors, std::string_view name) {
    const auto found = tensors.find(name);
    return found != tensors.end() && graph->tensor(found->second).dtype == DType::f16 &&
           graph->tensor(found->second).role != Role::constant;
  }

  // "t" for the f32 copy "t (f32)", otherwise the name itself. A tensor of the model is no copy.
  [[nodiscard]] std::string_view name_of(TensorId id) const {
    const std::string_view name = graph_.tensor(id).name;
    if (!name.ends_with(kWideSuffix) || graph_.tensor(id).dtype != DType::f32 || of_model_.contains(name)) return name;
    const std::string_view half = name.substr(0, name.size() - kWideSuffix.size());
    return has_half(model_, of_model_, half) || has_half(&graph_, own_, half) ? half : name;
  }

  void add_tensor(TensorId id) {
    if (tensors_[id]) return;
    const Tensor& tensor = graph_.tensor(id);
    const std::string name(name_of(id));
    if (const auto known = by_name_.find(name); known != by_name_.end()) {
      tensors_[id] = known->second;
      return;
    }
    const DType dtype = tensor.dtype == DType::f16 ? DType::f32 : tensor.dtype;
    const Role role = tensor.role == Role::output ? Role::temporary : tensor.role;
    const TensorId added = builder_.add_tensor({.name = name,
                                                .dtype = dtype,
                                                .shape = tensor.shape,
                                                .is_captured = tensor.is_captured,
                                                .constant = tensor.constant},
                                               role);
    if (const auto* integers = graph_.known_integers(id)) builder_.set_known_integers(added, *integers);
    by_name_.emplace(name, added);
    tensors_[id] = added;
  }

  Result<void> add_node(NodeId id) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph_, id);
    for (auto* list : {&spec.inputs, &spec.outputs}) {
      for (std::optional<TensorId>& tensor : *list) {
        if (tensor) tensor = tensors_[*tensor];
      }
    }
    if (is_cast(graph_.op(id)) && spec.inputs == spec.outputs) return {};
    std::vector<NodeId> waits;
    for (NodeId wait : spec.control_inputs) {
      if (nodes_[wait]) waits.push_back(*nodes_[wait]);
    }
    spec.control_inputs = std::move(waits);
    LOWTIDE_RETURN_IF_ERROR(erase_program(spec));
    LOWTIDE_RETURN_IF_ERROR(erase_bodies(id, spec));
    nodes_[id] = builder_.add_node(std::move(spec));
    return {};
  }

  void add_copies_of_constants() {
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const Tensor& tensor = graph_.tensor(id);
      const std::string name = tensor.name + std::string(kWideSuffix);
      if (tensor.role != Role::constant || tensor.dtype != DType::f16 || of_model_.contains(name)) continue;
      const TensorId copy = builder_.add_tensor({.name = name, .dtype = DType::f32, .shape = tensor.shape});
      builder_.add_node(
          {.type = "Cast", .inputs = {tensors_[id]}, .outputs = {copy}, .attributes = {{"to", std::int64_t{1}}}});
    }
  }

  Result<void> erase_program(GraphBuilder::NodeSpec& spec) const {
    if (spec.domain != kOwnDomain) return {};
    for (Attribute& attribute : spec.attributes) {
      if (attribute.name != kProgramAttribute) continue;
      const auto* lines = std::get_if<std::vector<std::string>>(&attribute.value);
      if (lines == nullptr) continue;
      LOWTIDE_TRY(const Graph program, chain_graph(*lines));
      LOWTIDE_TRY(Graph erased, Eraser(program, model_).run());
      attribute.value = chain_lines(erased);
      // An operand and its f32 copy became one input of the program, as the first of them.
      std::vector<std::optional<TensorId>> operands;
      for (const std::optional<TensorId>& input : spec.inputs) {
        if (std::ranges::find(operands, input) == operands.end()) operands.push_back(input);
      }
      spec.inputs = std::move(operands);
    }
    return {};
  }

  // The body of the model's node that writes the same tensor.
  [[nodiscard]] const Graph* body_of_model(NodeId id, const std::string& name) const {
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (!output) continue;
      const auto found = of_model_.find(name_of(*output));
      if (found == of_model_.end() || !model_->tensor(found->second).producer) return nullptr;
      for (const Body& body : model_->node(*model_->tensor(found->second).producer).bodies) {
        if (body.name == name) return body.graph.get();
      }
    }
    return nullptr;
  }

  Result<void> erase_bodies(NodeId id, GraphBuilder::NodeSpec& spec) const {
    for (Body& body : spec.bodies) {
      Eraser eraser(*body.graph, is_model() ? body.graph.get() : body_of_model(id, body.name));
      const Graph& before = *body.graph;
      LOWTIDE_TRY(Graph erased, std::move(eraser).run());
      std::unordered_map<std::string_view, TensorId> inner;
      for (TensorId tensor : all_ids<TensorId>(erased.tensors().size()))
        inner.emplace(erased.tensor(tensor).name, tensor);
      std::vector<std::pair<TensorId, TensorId>> captures;
      for (const auto& [outer, captured] : body.captures)
        captures.emplace_back(*tensors_[outer], inner.at(before.tensor(captured).name));
      std::ranges::sort(captures);
      body = {body.name, std::make_shared<const Graph>(std::move(erased)), std::move(captures)};
    }
    return {};
  }

  const Graph& graph_;
  const Graph* model_;
  TensorsByName of_model_;
  TensorsByName own_;
  GraphBuilder builder_;
  IdVector<TensorId, std::optional<TensorId>> tensors_;  // in the copy
  IdVector<NodeId, std::optional<NodeId>> nodes_;        // in the copy; nullopt: left out
  std::unordered_map<std::string, TensorId> by_name_;    // in the copy
};

}  // namespace

bool has_halves(const Graph& graph) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.dtype == DType::f16) return true;
  }
  return std::ranges::any_of(graph.nodes(), [](const Node& node) {
    return std::ranges::any_of(node.bodies, [](const Body& body) { return has_halves(*body.graph); });
  });
}

Result<ErasedHalves> without_halves(const Graph& model, const Graph& lowered, const Graph& load) {
  LOWTIDE_TRY(Graph plain_model, Eraser(model, &model).run());
  LOWTIDE_TRY(Graph plain_lowered, Eraser(lowered, &model).run());
  LOWTIDE_TRY(Graph plain_load, Eraser(load, &model).run());
  return ErasedHalves{std::move(plain_model), std::move(plain_lowered), std::move(plain_load)};
}

}  // namespace lowtide::verify_internal
