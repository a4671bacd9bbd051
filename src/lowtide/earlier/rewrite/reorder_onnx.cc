// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/reorder_onnx.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "lowtide/base/check.h"
#include "lowtide/base/try.h"
#include "lowtide/pipeline/plan_graph.h"

namespace lowtide {
namespace rewrite_internal {
namespace {

std::vector<NodeId> order_of_plan(const Plan& plan) {
  std::vector<NodeId> order;
  for (const Step& step : plan.program.steps) {
    if (const auto* compute = std::get_if<Compute>(&step.work)) order.push_back(compute->node);
  }
  return order;
}

// Between the nodes of a graph and those of the file that it was read from, by the names of results.
class FileNodes {
 public:
  FileNodes(const Graph& graph, const std::vector<OnnxFileNode>& nodes)
      : graph_(graph), nodes_(nodes), position_(graph.nodes().size()) {
    std::unordered_map<std::string_view, std::size_t> makers;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      for (std::string_view name : nodes[at].writes) makers.emplace(name, at);
    }
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
      for (std::optional<TensorId> output : graph.node(id).outputs) {
        if (!output || position_[id]) continue;
        const auto found = makers.find(graph.tensor(*output).name);
        if (found != makers.end()) position_[id] = found->second;
      }
    }
  }

  // All nodes of the file, in the order that these nodes of the graph have.
  [[nodiscard]] Result<std::vector<std::size_t>> file_order(const std::vector<NodeId>& order) const {
    std::vector<std::size_t> wanted;
    std::vector<bool> is_listed(nodes_.size());
    for (NodeId id : order) {
      if (!position_[id] || is_listed[*position_[id]]) continue;
      is_listed[*position_[id]] = true;
      wanted.push_back(*position_[id]);
    }
    return complete_order(nodes_, wanted);
  }

  // The nodes of the graph in an order of the file. Those without a place there come behind what they read.
  [[nodiscard]] std::vector<NodeId> graph_order(const std::vector<std::size_t>& file_order) const {
    std::vector<std::size_t> rank(nodes_.size());
    for (std::size_t at = 0; at < file_order.size(); ++at) rank[file_order[at]] = at;
    IdVector<NodeId, std::size_t> ranks(position_.size());
    for (NodeId id : all_ids<NodeId>(position_.size())) {  // ids ascend along the edges
      if (position_[id]) {
        ranks[id] = rank[*position_[id]];
      } else {
        for (TensorId read : graph_.reads(id)) {
          if (const auto producer = graph_.tensor(read).producer) ranks[id] = std::max(ranks[id], ranks[*producer]);
        }
      }
    }
    std::vector<NodeId> order;
    for (NodeId id : all_ids<NodeId>(position_.size())) order.push_back(id);
    std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return ranks[a] < ranks[b]; });
    return order;
  }

 private:
  const Graph& graph_;
  const std::vector<OnnxFileNode>& nodes_;
  IdVector<NodeId, std::optional<std::size_t>> position_;
};

}  // namespace
}  // namespace rewrite_internal

Result<OnnxOrder> reorder_onnx(const Graph& graph, const std::vector<OnnxFileNode>& nodes,
                               const OnnxRuntimeShapes& shapes) {
  const rewrite_internal::FileNodes places(graph, nodes);
  OnnxOrder best{.name = "as_given", .nodes = std::vector<std::size_t>(nodes.size())};
  std::iota(best.nodes.begin(), best.nodes.end(), std::size_t{0});
  LOWTIDE_TRY(best.given, predict_onnxruntime(graph, places.graph_order(best.nodes), shapes));
  LOWTIDE_TRY(best.usual, predict_onnxruntime(graph, shapes));
  best.reordered = best.given;
  LOWTIDE_TRY(const PlannedGraph planned, plan_graph(graph, dense_target()));
  LOWTIDE_CHECK(planned.violations.empty(), "the plan of the model as written is correct");
  const auto need = [](const OnnxRuntimeMemory& memory) { return std::pair(memory.pattern, memory.live); };
  for (const auto& [name, order] :
       {std::pair(planned.plan.claims.schedule, rewrite_internal::order_of_plan(planned.plan)),
        std::pair(std::string("onnxruntime"), best.usual.order)}) {
    LOWTIDE_TRY(std::vector<std::size_t> other, places.file_order(order));
    LOWTIDE_TRY(OnnxRuntimeMemory memory, predict_onnxruntime(graph, places.graph_order(other), shapes));
    if (!(need(memory) < need(best.reordered))) continue;
    best.name = name;
    best.nodes = std::move(other);
    best.reordered = std::move(memory);
  }
  return best;
}

}  // namespace lowtide
