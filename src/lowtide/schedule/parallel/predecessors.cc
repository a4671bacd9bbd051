// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/parallel/predecessors.h"

#include <algorithm>
#include <optional>

namespace lowtide::schedule_internal {
namespace {

// A range of bytes of an alias class that a node touched, and that no later node has overwritten as a whole.
struct Touch {
  std::int64_t begin;
  std::int64_t end;
  NodeId node;
};

class Collector {
 public:
  Collector(const Graph& graph, const Schedule& sequential)
      : graph_(graph), sequential_(sequential), touches_(sequential.aliases.classes.size()) {}

  IdVector<NodeId, std::vector<NodeId>> collect() {
    IdVector<NodeId, std::vector<NodeId>> before(graph_.nodes().size());
    IdVector<NodeId, std::uint32_t> position(graph_.nodes().size());
    for (std::size_t at = 0; at < sequential_.order.size(); ++at) {
      position[sequential_.order[at]] = static_cast<std::uint32_t>(at);
    }
    for (NodeId id : sequential_.order) {
      std::vector<NodeId>& own = before[id];
      for (TensorId read : graph_.reads(id)) {
        if (graph_.tensor(read).producer) own.push_back(*graph_.tensor(read).producer);
      }
      for (NodeId control : graph_.node(id).control_inputs) own.push_back(control);
      touch(id, own);
      std::sort(own.begin(), own.end(), [&](NodeId a, NodeId b) { return position[a] < position[b]; });
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    return before;
  }

 private:
  [[nodiscard]] Touch place_of(TensorId tensor, NodeId node) const {
    const std::int64_t begin = sequential_.aliases.offset_in_class[tensor].position();
    return {begin, begin + graph_.tensor(tensor).size.count(), node};
  }
  std::vector<Touch>& touches(TensorId tensor) { return touches_[sequential_.aliases.class_of[tensor]]; }
  [[nodiscard]] bool is_written(TensorId tensor) const {
    return is_placed(sequential_.aliases.classes[sequential_.aliases.class_of[tensor]].kind);
  }

  void write(const Touch& own, std::vector<Touch>& others, std::vector<NodeId>& before) {
    for (const Touch& other : others) {
      if (other.node != own.node && other.begin < own.end && own.begin < other.end) before.push_back(other.node);
    }
    // Later nodes that touch these bytes wait for this node, and so for the nodes that it waits for.
    std::erase_if(others, [&](const Touch& other) { return own.begin <= other.begin && other.end <= own.end; });
    others.push_back(own);
  }

  void touch(NodeId id, std::vector<NodeId>& before) {
    const bool computes = sequential_.aliases.step_kinds[id] == StepKind::compute;
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (output && computes) write(place_of(*output, id), touches(*output), before);
    }
    for (const OperandCopy& copy : sequential_.aliases.copies_of(id)) {
      const std::int64_t begin = copy.offset.position();
      write({begin, begin + graph_.tensor(copy.tensor).size.count(), id}, touches(*graph_.node(id).outputs[0]), before);
    }
    for (TensorId read : graph_.reads(id)) {
      if (is_written(read)) touches(read).push_back(place_of(read, id));
    }
  }

  const Graph& graph_;
  const Schedule& sequential_;
  IdVector<AliasClassId, std::vector<Touch>> touches_;
};

}  // namespace

IdVector<NodeId, std::vector<NodeId>> predecessors(const Graph& graph, const Schedule& sequential) {
  return Collector(graph, sequential).collect();
}

}  // namespace lowtide::schedule_internal
