// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/body_load.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/graph/builder.h"

namespace lowtide::verify_internal {
namespace {

class PartOfLoad {
 public:
  PartOfLoad(const LoadNames& load, const BodyTensors& tensors)
      : all_(load), load_(load.graph()), tensors_(tensors), part_(load.graph().name()) {}

  Result<Graph> find() && {
    name_tensors_of_model();
    name_constants();
    for (NodeId id : nodes_of_part()) add_node(id);
    std::vector<TensorId> results;
    for (const auto& [id, name] : names_) results.push_back(add(id, Role::constant));
    part_.set_outputs(std::move(results));
    return std::move(part_).build();
  }

 private:
  // The nodes that compute tensors of the body, and what only these nodes read. The graph around the body has the nodes
  // that compute captured tensors.
  [[nodiscard]] std::set<NodeId> nodes_of_part() const {
    std::set<NodeId> nodes;
    std::vector<NodeId> open;
    const auto need = [&](TensorId id) {
      const std::optional<NodeId> producer = load_.tensor(id).producer;
      if (producer && !captured_.contains(id) && nodes.insert(*producer).second) open.push_back(*producer);
    };
    for (const auto& [id, name] : names_) need(id);
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      for (TensorId read : load_.reads(node)) need(read);
    }
    return nodes;
  }

  void name(TensorId id, const std::string& name) {
    if (!names_.contains(id) && used_.insert(name).second) names_.emplace(id, name);
  }

  void name_tensors_of_model() {
    for (TensorId id : all_ids<TensorId>(tensors_.before.tensors().size())) {
      const std::optional<TensorId> found = all_.find(tensors_.names[id]);
      if (!found) continue;
      name(*found, tensors_.before.tensor(id).name);
      if (tensors_.before.tensor(id).is_captured) captured_.insert(*found);
    }
  }

  // Constants that the model does not have, such as packed weights.
  void name_constants() {
    for (const Tensor& constant : tensors_.after.tensors()) {
      if (constant.role != Role::constant || constant.is_captured || used_.contains(constant.name)) continue;
      const std::optional<TensorId> found = result(constant);
      if (found) name(*found, constant.name);
    }
  }

  // The result of the load-time work that a constant is: by its number, or by its name if it has none.
  [[nodiscard]] std::optional<TensorId> result(const Tensor& constant) const {
    if (!constant.constant) return all_.find(tensors_.prefix + constant.name);
    if (!tensors_.constants || constant.constant->value() < *tensors_.constants) return std::nullopt;
    const std::size_t at = constant.constant->value() - *tensors_.constants;
    return at < load_.outputs().size() ? std::optional(load_.outputs()[at]) : std::nullopt;
  }

  TensorId add(TensorId id, Role role) {
    const auto known = ids_.find(id);
    if (known != ids_.end()) return known->second;
    const Tensor& tensor = load_.tensor(id);
    const auto named = names_.find(id);
    std::string name = named == names_.end() ? tensor.name : named->second;
    while (named == names_.end() && !used_.insert(name).second) name += "'";  // a tensor of another graph
    const bool is_given = role == Role::constant && !tensor.producer;
    GraphBuilder::TensorSpec spec{.name = std::move(name), .dtype = tensor.dtype, .shape = tensor.shape};
    if (is_given) spec.constant = tensor.constant;
    return ids_.emplace(id, part_.add_tensor(std::move(spec), role)).first->second;
  }

  void add_node(NodeId id) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(load_, id);
    spec.control_inputs.clear();  // of nodes that may be in other parts
    for (std::optional<TensorId>& input : spec.inputs) {
      if (input) input = add(*input, Role::constant);
    }
    for (std::optional<TensorId>& output : spec.outputs) {
      if (output) output = add(*output, Role::temporary);
    }
    part_.add_node(std::move(spec));
  }

  const LoadNames& all_;
  const Graph& load_;
  const BodyTensors& tensors_;
  std::map<TensorId, std::string> names_;  // of tensors of the load-time work that the body has, in the body
  std::set<TensorId> captured_;            // those of them that a graph around the body computes
  std::map<TensorId, TensorId> ids_;       // of the tensors of the load-time work, in the part
  std::unordered_set<std::string> used_;
  GraphBuilder part_;
};

}  // namespace

LoadNames::LoadNames(const Graph& load) : load_(load) {
  for (TensorId id : all_ids<TensorId>(load.tensors().size())) by_name_.emplace(load.tensor(id).name, id);
}

std::optional<TensorId> LoadNames::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint32_t> constants_of_model(const ConstantTable* table) {
  if (table == nullptr) return std::nullopt;
  const auto made = std::ranges::find_if(table->sources, [](const ConstantSource& source) {
    return std::holds_alternative<ConstantSource::Computed>(source.where);
  });
  return static_cast<std::uint32_t>(made - table->sources.begin());
}

Result<Graph> load_of_body(const LoadNames& load, const BodyTensors& tensors) {
  return PartOfLoad(load, tensors).find();
}

}  // namespace lowtide::verify_internal
