// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/load_jobs.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/graph/builder.h"

namespace lowtide::engine_internal {
namespace {

// Disjoint sets of nodes. A set is named after its first node.
class NodeSets {
 public:
  explicit NodeSets(std::size_t nodes) : parent_(nodes) {
    for (NodeId id : all_ids<NodeId>(nodes)) parent_[id] = id;
  }

  NodeId find(NodeId id) {
    while (parent_[id] != id) {
      parent_[id] = parent_[parent_[id]];
      id = parent_[id];
    }
    return id;
  }

  void join(NodeId a, NodeId b) {
    const auto [first, second] = std::minmax({find(a), find(b)});
    parent_[second] = first;
  }

 private:
  IdVector<NodeId, NodeId> parent_;
};

// Connected nodes, in the order of the graph.
struct Component {
  std::vector<NodeId> nodes;
  Bytes all;      // of its tensors
  Bytes results;  // the part of them that stays
};

std::vector<Component> components_of(const Graph& load) {
  NodeSets sets(load.nodes().size());
  for (TensorId id : all_ids<TensorId>(load.tensors().size())) {
    const std::optional<NodeId>& producer = load.tensor(id).producer;
    if (!producer) continue;
    for (NodeId reader : load.readers(id)) sets.join(*producer, reader);
  }
  std::vector<Component> components;
  IdVector<NodeId, std::size_t> component_of(load.nodes().size());
  for (NodeId id : all_ids<NodeId>(load.nodes().size())) {
    const NodeId first = sets.find(id);
    if (first == id) {
      component_of[id] = components.size();
      components.emplace_back();
    }
    components[component_of[first]].nodes.push_back(id);
  }
  return components;
}

// Counts the bytes of each component. A constant that several of them read counts in each.
void measure(const Graph& load, std::vector<Component>& components) {
  IdVector<TensorId, const Component*> counted(load.tensors().size(), nullptr);
  for (Component& component : components) {
    const auto count = [&](TensorId id) {
      if (std::exchange(counted[id], &component) == &component) return;
      component.all += load.tensor(id).size;
      if (load.tensor(id).role == Role::output) component.results += load.tensor(id).size;
    };
    for (NodeId id : component.nodes) {
      for (TensorId read : load.reads(id)) count(read);
      for (const std::optional<TensorId>& output : load.node(id).outputs) {
        if (output) count(*output);
      }
    }
  }
}

// Copies a part of a graph into another one.
class PartCopier {
 public:
  explicit PartCopier(const Graph& from) : from_(from), builder_(from.name()) {}

  void add(NodeId id) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(from_, id);
    LOWTIDE_CHECK(spec.bodies.empty() && spec.control_inputs.empty(),
                  "load-time work has neither bodies nor control inputs");
    for (auto* list : {&spec.inputs, &spec.outputs}) {
      for (std::optional<TensorId>& tensor : *list) {
        if (tensor) tensor = copy_of(*tensor);
      }
    }
    builder_.add_node(std::move(spec));
  }

  TensorId copy_of(TensorId id) {
    const auto [entry, is_new] = copies_.try_emplace(id.value(), TensorId());
    if (is_new) {
      const Tensor& tensor = from_.tensor(id);
      entry->second = builder_.add_copy(from_, id, tensor.producer ? Role::temporary : tensor.role);
    }
    return entry->second;
  }

  Result<Graph> build(std::vector<TensorId> outputs) && {
    builder_.set_outputs(std::move(outputs));
    return std::move(builder_).build();
  }

 private:
  const Graph& from_;
  GraphBuilder builder_;
  std::unordered_map<std::uint32_t, TensorId> copies_;
};

}  // namespace

std::vector<LoadJob> load_jobs(const Graph& load, Bytes small) {
  std::vector<Component> components = components_of(load);
  measure(load, components);
  std::ranges::stable_sort(
      components, [](const Component& a, const Component& b) { return a.all - a.results > b.all - b.results; });
  std::vector<LoadJob> jobs;
  Bytes last;  // the bytes of the last job
  for (const Component& component : components) {
    const bool is_one_more = !jobs.empty() && component.all <= small && last <= small - component.all;
    if (!is_one_more) jobs.emplace_back();
    last = is_one_more ? last + component.all : component.all;
    std::vector<NodeId>& nodes = jobs.back().nodes;
    nodes.insert(nodes.end(), component.nodes.begin(), component.nodes.end());
  }
  return jobs;
}

LoadJobGraphs::LoadJobGraphs(const Graph& load) : load_(load) {
  for (std::size_t at = 0; at < load.outputs().size(); ++at) {
    const TensorId id = load.outputs()[at];
    LOWTIDE_CHECK(load.tensor(id).producer.has_value(), "load-time work computes its outputs");
    outputs_.emplace_back(id, at);
  }
  std::ranges::sort(outputs_);
}

Result<LoadJobGraph> LoadJobGraphs::graph_of(const LoadJob& job) const {
  PartCopier copier(load_);
  std::vector<TensorId> outputs;
  std::vector<std::size_t> results;
  for (NodeId id : job.nodes) {
    copier.add(id);
    for (const std::optional<TensorId>& output : load_.node(id).outputs) {
      if (!output) continue;
      auto entry = std::ranges::lower_bound(outputs_, std::pair(*output, std::size_t{0}));
      for (; entry != outputs_.end() && entry->first == *output; ++entry) {
        outputs.push_back(copier.copy_of(*output));
        results.push_back(entry->second);
      }
    }
  }
  Result<Graph> graph = std::move(copier).build(std::move(outputs));
  if (!graph) return graph.error();
  return LoadJobGraph{*std::move(graph), std::move(results)};
}

}  // namespace lowtide::engine_internal
