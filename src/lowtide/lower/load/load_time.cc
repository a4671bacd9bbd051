// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/load/load_time.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/graph/body_names.h"
#include "lowtide/graph/builder.h"
#include "lowtide/lower/common/bodies.h"
#include "lowtide/lower/common/inference_form.h"

namespace lowtide {
namespace {

// A graph that is being split.
struct Scope {
  const Graph& graph;
  std::string path;  // "" for the graph itself; otherwise it ends in '/'
  Scope* outer = nullptr;
  IdVector<TensorId, std::optional<TensorId>> captured_from;  // the tensor of `outer` that a captured tensor stands for
  IdVector<TensorId, std::optional<TensorId>> loaded;         // its id in the load graph, once it has one
  Flags<TensorId> is_known;                                   // constants, load-time results, known content
  Flags<NodeId> is_load_time;

  Scope(const Graph& of, std::string its_path, Scope* around)
      : graph(of),
        path(std::move(its_path)),
        outer(around),
        captured_from(of.tensors().size()),
        loaded(of.tensors().size()),
        is_known(of.tensors().size()),
        is_load_time(of.nodes().size()) {}
};

class Splitter {
 public:
  Splitter(const Graph& graph, std::optional<std::uint32_t> constants) : constants_(constants), load_(graph.name()) {}

  // Returns the graph without its load-time work.
  Result<std::optional<Rewritten>> split(Scope& scope) {
    find_work(scope);
    for (NodeId id : all_ids<NodeId>(scope.graph.nodes().size())) {
      if (scope.is_load_time.test(id)) add_work(scope, id);
    }
    GraphRewriter rewriter(scope.graph);
    make_constants(scope, rewriter);
    const BodyNames names(scope.graph);
    for (NodeId id : all_ids<NodeId>(scope.graph.nodes().size())) {
      if (scope.is_load_time.test(id)) rewriter.remove_node(id);
    }
    LOWTIDE_RETURN_IF_ERROR(lower_internal::rewrite_bodies(scope.graph, rewriter, [&](NodeId id, const Body& body) {
      return split_body(scope, names.prefix(id, body), body);
    }));
    rewriter.remove_unused();
    return std::move(rewriter).finish_if_changed();
  }

  Result<Graph> take_load_graph() && {
    load_.set_outputs(std::move(results_));
    return std::move(load_).build();
  }

 private:
  static bool is_load_time(const Scope& scope, NodeId id) {
    if (!lower_internal::is_in_inference_form(scope.graph, id)) return false;  // may draw random numbers
    const OperatorTraits& traits = scope.graph.op(id).traits;
    if (!traits.is_pure || traits.is_random || traits.is_stateful || !scope.graph.node(id).bodies.empty()) return false;
    const auto is_known = [&](TensorId read) { return scope.is_known.test(read); };
    // A constant has one size.
    const auto can_be_constant = [&](const std::optional<TensorId>& output) {
      if (!output) return true;
      const Tensor& tensor = scope.graph.tensor(*output);
      return !tensor.is_next_state && !tensor.shape.has_upper_bounds();
    };
    const std::vector<std::optional<TensorId>>& outputs = scope.graph.node(id).outputs;
    return std::all_of(scope.graph.reads(id).begin(), scope.graph.reads(id).end(), is_known) &&
           std::all_of(outputs.begin(), outputs.end(), can_be_constant);
  }

  // Whether all that a node computes follows from the given sizes, such as the content of a Shape.
  static bool has_known_content(const Graph& graph, NodeId id) {
    const std::vector<std::optional<TensorId>>& outputs = graph.node(id).outputs;
    return graph.op(id).traits.is_pure && graph.node(id).bodies.empty() &&
           std::all_of(outputs.begin(), outputs.end(), [&](const std::optional<TensorId>& output) {
             return !output || (graph.known_integers(*output) != nullptr && !graph.tensor(*output).is_next_state);
           });
  }

  static void find_work(Scope& scope) {
    for (TensorId id : all_ids<TensorId>(scope.graph.tensors().size())) {
      const std::optional<TensorId>& outer = scope.captured_from[id];
      if (scope.graph.tensor(id).role == Role::constant || (outer && scope.outer->is_known.test(*outer))) {
        scope.is_known.set(id);
      }
    }
    for (NodeId id : all_ids<NodeId>(scope.graph.nodes().size())) {
      if (is_load_time(scope, id)) {
        scope.is_load_time.set(id);
      } else if (!has_known_content(scope.graph, id)) {
        continue;
      }
      for (const std::optional<TensorId>& output : scope.graph.node(id).outputs) {
        if (output) scope.is_known.set(*output);
      }
    }
  }

  // The path and the name of a tensor, with a number if another tensor has that name already.
  std::string unique_name(const Scope& scope, TensorId id) {
    const std::string name = scope.path + scope.graph.tensor(id).name;
    std::string unique = name;
    for (int number = 1; !names_.insert(unique).second; ++number) unique = name + "." + std::to_string(number);
    return unique;
  }

  TensorId new_load_tensor(const Scope& scope, TensorId id, Role role) {
    const Tensor& tensor = scope.graph.tensor(id);
    const TensorId made = load_.add_tensor(
        {.name = unique_name(scope, id), .dtype = tensor.dtype, .shape = tensor.shape, .constant = tensor.constant},
        role);
    if (const auto* content = scope.graph.known_integers(id)) load_.set_known_integers(made, *content);
    return made;
  }

  // The id in the load graph of a constant or a result. The loop ends at the graph that owns the tensor.
  TensorId load_id(Scope& scope, TensorId id) {
    Scope* owner = &scope;
    TensorId tensor = id;
    while (owner->captured_from[tensor]) {
      tensor = *owner->captured_from[tensor];
      owner = owner->outer;
    }
    if (!owner->loaded[tensor]) owner->loaded[tensor] = new_load_tensor(*owner, tensor, Role::constant);
    return *owner->loaded[tensor];
  }

  void add_work(Scope& scope, NodeId id) {
    const Node& node = scope.graph.node(id);
    const Operator& op = scope.graph.op(id);
    GraphBuilder::NodeSpec spec{.name = node.name, .domain = op.domain, .type = op.type, .attributes = node.attributes};
    for (const std::optional<TensorId>& input : node.inputs) {
      spec.inputs.push_back(input ? std::optional(load_id(scope, *input)) : std::nullopt);
    }
    for (const std::optional<TensorId>& output : node.outputs) {
      if (output) scope.loaded[*output] = new_load_tensor(scope, *output, Role::temporary);
      spec.outputs.push_back(output ? scope.loaded[*output] : std::nullopt);
    }
    load_.add_node(std::move(spec));
  }

  // Replaces each known tensor by a constant.
  void make_constants(Scope& scope, GraphRewriter& rewriter) {
    for (TensorId id : all_ids<TensorId>(scope.graph.tensors().size())) {
      const Tensor& tensor = scope.graph.tensor(id);
      if (!scope.is_known.test(id) || tensor.role == Role::constant) continue;
      const bool is_result = tensor.producer && scope.is_load_time.test(*tensor.producer);
      std::optional<ConstantId> result;
      if (is_result && is_read_by_runs(scope, id)) {
        if (constants_) result = ConstantId(*constants_ + static_cast<std::uint32_t>(results_.size()));
        results_.push_back(*scope.loaded[id]);
      }
      const TensorId constant = rewriter.add_tensor(
          {tensor.name, tensor.dtype, tensor.shape, tensor.is_captured, result}, {id}, Role::constant);
      if (const auto* content = scope.graph.known_integers(id)) rewriter.set_known_integers(constant, *content);
      rewriter.replace_uses(id, constant);
    }
  }

  static bool is_read_by_runs(const Scope& scope, TensorId id) {
    const std::span<const NodeId> readers = scope.graph.readers(id);
    return scope.graph.tensor(id).role == Role::output ||
           !std::all_of(readers.begin(), readers.end(), [&](NodeId reader) { return scope.is_load_time.test(reader); });
  }

  Result<std::optional<Rewritten>> split_body(Scope& scope, const std::string& prefix, const Body& body) {
    Scope inner(*body.graph, scope.path + prefix, &scope);
    for (const auto& [from, to] : body.captures) inner.captured_from[to] = from;
    return split(inner);
  }

  std::optional<std::uint32_t> constants_;
  GraphBuilder load_;
  std::vector<TensorId> results_;
  std::unordered_set<std::string> names_;
};

}  // namespace

Result<LoadTimeSplit> split_load_time(const Graph& graph, std::optional<std::uint32_t> constants) {
  Splitter splitter(graph, constants);
  Scope scope(graph, "", nullptr);
  Result<std::optional<Rewritten>> run = splitter.split(scope);
  if (!run) return run.error();
  Result<Graph> load = std::move(splitter).take_load_graph();
  if (!load) return load.error();
  return LoadTimeSplit{*std::move(run), *std::move(load)};
}

}  // namespace lowtide
