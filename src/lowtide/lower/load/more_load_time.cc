// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/load/more_load_time.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/graph/body_names.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/lower/common/bodies.h"

namespace lowtide::lower_internal {
namespace {

// A graph that loses its nodes on constants.
struct Scope {
  const Graph& graph;
  std::string prefix;  // of its tensors in the load-time work: "" for the graph itself (graph/body_names.h)
  const Scope* outer = nullptr;
  IdVector<TensorId, std::optional<TensorId>> captured_from = {};  // the tensor of `outer` that a tensor stands for
  std::set<std::size_t> numbers = {};                              // of the results that its new constants are
};

// A tensor in the graph that has it, not in a body that captures it.
struct Owned {
  const Scope* scope;
  TensorId tensor;
};

Owned owner_of(const Scope& scope, TensorId tensor) {
  Owned owned{&scope, tensor};
  while (owned.scope->outer != nullptr && owned.scope->captured_from[owned.tensor])
    owned = {owned.scope->outer, *owned.scope->captured_from[owned.tensor]};
  return owned;
}

std::string load_name(const Owned& owned) { return owned.scope->prefix + owned.scope->graph.tensor(owned.tensor).name; }

class LoadTimeExtension {
 public:
  LoadTimeExtension(const Graph& load, std::optional<std::uint32_t> constants)
      : constants_(constants), builder_(load.name()), results_(load.outputs()) {
    for (TensorId id : all_ids<TensorId>(load.tensors().size())) {
      const Tensor& tensor = load.tensor(id);
      const TensorId copy = builder_.add_copy(load, id, tensor.producer ? Role::temporary : tensor.role);
      tensors_.emplace(tensor.name, Known{copy, tensor.producer ? std::nullopt : tensor.constant});
    }
    for (std::size_t at = 0; at < results_.size(); ++at) {
      slot_of_.emplace(load.tensor(results_[at]).name, at);
      names_of_earlier_.push_back(load.tensor(results_[at]).name);
    }
    for (NodeId id : all_ids<NodeId>(load.nodes().size())) builder_.add_node(GraphBuilder::spec_of(load, id));
  }

  // Returns the graph without the nodes that move. Recursion only over bodies.
  Result<std::optional<Rewritten>> split(Scope& scope) {
    GraphRewriter rewriter(scope.graph);
    for (NodeId id : all_ids<NodeId>(scope.graph.nodes().size())) {
      if (is_moved(scope, id)) move(scope, rewriter, id);
    }
    const BodyNames names(scope.graph);
    LOWTIDE_RETURN_IF_ERROR(rewrite_bodies(scope.graph, rewriter, [&](NodeId id, const Body& body) {
      Scope inner{*body.graph, scope.prefix + names.prefix(id, body), &scope,
                  IdVector<TensorId, std::optional<TensorId>>(body.graph->tensors().size())};
      for (const auto& [from, to] : body.captures) inner.captured_from[to] = from;
      return split(inner);
    }));
    rewriter.remove_unused();
    return std::move(rewriter).finish_if_changed();
  }

  Result<Graph> take_load_graph() && {
    builder_.set_outputs(std::move(results_));
    return std::move(builder_).build();
  }

 private:
  struct Known {
    TensorId id;
    std::optional<ConstantId> constant;
  };
  // A new result, and the node that computes it from a constant.
  struct Made {
    std::string type;
    std::vector<Attribute> attributes;
    std::size_t number;
  };

  // In a body, a node moves only if the names of the tensors tell which ones they are.
  [[nodiscard]] bool is_moved(const Scope& scope, NodeId id) const {
    const Operator& op = scope.graph.op(id);
    if (op.domain != kOwnDomain || (op.type != kPackType && op.type != kReorderType)) return false;
    const TensorId read = *scope.graph.node(id).inputs[0];
    if (scope.graph.tensor(read).role != Role::constant) return false;
    return scope.outer == nullptr || has_clear_names(scope, read, *scope.graph.node(id).outputs[0]);
  }

  [[nodiscard]] bool has_clear_names(const Scope& scope, TensorId read, TensorId result) const {
    const Owned owned = owner_of(scope, read);
    const std::string name = load_name(owned);
    if (tensors_.contains(scope.prefix + scope.graph.tensor(result).name)) return false;
    const std::optional<std::size_t> slot = slot_of(owned);
    if (slot) return names_of_earlier_[*slot] == name;
    const auto found = tensors_.find(name);
    return found == tensors_.end() || found->second.constant == owned.scope->graph.tensor(owned.tensor).constant;
  }

  // The earlier result that a constant of the graph is.
  [[nodiscard]] std::optional<std::size_t> slot_of(const Owned& owned) const {
    const Tensor& tensor = owned.scope->graph.tensor(owned.tensor);
    if (constants_) {
      if (!tensor.constant || tensor.constant->value() < *constants_) return std::nullopt;
      return tensor.constant->value() - *constants_;
    }
    const auto found = slot_of_.find(load_name(owned));
    return found == slot_of_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string unique_name(const std::string& name) const {
    std::string unique = name;
    for (int number = 1; tensors_.contains(unique); ++number) unique = name + "." + std::to_string(number);
    return unique;
  }

  // The constant in the load-time work.
  TensorId source_of(const Owned& owned, std::optional<std::size_t> slot) {
    if (slot) return results_of_earlier_[*slot];
    const Tensor& tensor = owned.scope->graph.tensor(owned.tensor);
    const auto found = tensors_.find(load_name(owned));
    if (found != tensors_.end() && found->second.constant == tensor.constant) return found->second.id;
    const std::string name = unique_name(load_name(owned));
    const TensorId made = builder_.add_tensor(
        {.name = name, .dtype = tensor.dtype, .shape = tensor.shape, .constant = tensor.constant}, Role::constant);
    tensors_.emplace(name, Known{made, tensor.constant});
    return made;
  }

  void move(Scope& scope, GraphRewriter& rewriter, NodeId id) {
    const Owned owned = owner_of(scope, *scope.graph.node(id).inputs[0]);
    const TensorId result = *scope.graph.node(id).outputs[0];
    const Tensor& tensor = scope.graph.tensor(result);
    const std::size_t number = number_of_result(scope, id, owned);
    scope.numbers.insert(number);
    std::optional<ConstantId> constant;
    if (constants_) constant = ConstantId(*constants_ + static_cast<std::uint32_t>(number));
    const TensorId now =
        rewriter.add_tensor({tensor.name, tensor.dtype, tensor.shape, false, constant}, {result}, Role::constant);
    rewriter.replace_uses(result, now);
    rewriter.remove_node(id);
  }

  // Branches that capture one constant share the result, if results have numbers. Otherwise, names tell them apart.
  std::size_t number_of_result(const Scope& scope, NodeId id, const Owned& owned) {
    const std::optional<std::size_t> slot = slot_of(owned);
    const TensorId source = source_of(owned, slot);
    const std::string& type = scope.graph.op(id).type;
    const std::vector<Attribute>& attributes = scope.graph.node(id).attributes;
    std::vector<Made>& made = made_[source];
    const auto known = std::ranges::find_if(made, [&](const Made& one) {
      return one.type == type && one.attributes == attributes && !scope.numbers.contains(one.number);
    });
    if (constants_ && known != made.end()) return known->number;
    const std::size_t number = make_result(scope, id, owned, source);
    made.push_back({type, attributes, number});
    return number;
  }

  std::size_t make_result(const Scope& scope, NodeId id, const Owned& owned, TensorId source) {
    const Tensor& tensor = scope.graph.tensor(*scope.graph.node(id).outputs[0]);
    const std::optional<std::size_t> slot = slot_of(owned);
    const std::span<const NodeId> readers = scope.graph.readers(owned.tensor);
    const bool is_replaced = slot && owned.scope == &scope && results_[*slot] == source &&
                             !scope.graph.is_needed_at_end(owned.tensor) &&
                             std::ranges::all_of(readers, [&](NodeId reader) { return is_moved(scope, reader); });
    const std::string name = unique_name(scope.prefix + tensor.name);
    const TensorId made = builder_.add_tensor({.name = name, .dtype = tensor.dtype, .shape = tensor.shape});
    tensors_.emplace(name, Known{made, std::nullopt});
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(scope.graph, id);
    spec.inputs = {source};
    spec.outputs = {made};
    builder_.add_node(std::move(spec));
    if (!is_replaced) results_.push_back(made);
    if (is_replaced) results_[*slot] = made;
    return is_replaced ? *slot : results_.size() - 1;
  }

  std::optional<std::uint32_t> constants_;
  GraphBuilder builder_;
  std::vector<TensorId> results_;  // the outputs of the load-time work
  std::vector<TensorId> results_of_earlier_ = results_;
  std::vector<std::string> names_of_earlier_;
  std::unordered_map<std::string, Known> tensors_;        // of the load-time work, by name
  std::unordered_map<std::string, std::size_t> slot_of_;  // numbers of the earlier results, by name
  std::map<TensorId, std::vector<Made>> made_;            // by the constant
};

}  // namespace

Result<LoadTimeSplit> split_more_load_time(const Graph& run, const Graph& load,
                                           std::optional<std::uint32_t> constants) {
  LoadTimeExtension extension(load, constants);
  Scope scope{run, "", nullptr, {}, {}};
  Result<std::optional<Rewritten>> rest = extension.split(scope);
  if (!rest) return rest.error();
  Result<Graph> extended = std::move(extension).take_load_graph();
  if (!extended) return extended.error();
  return LoadTimeSplit{*std::move(rest), *std::move(extended)};
}

}  // namespace lowtide::lower_internal
