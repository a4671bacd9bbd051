// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/node_figures.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/graph/multiply_accumulates.h"

namespace lowtide {
namespace {

using ConstantId = Id<struct ConstantTag>;
// The constants among the tensors of a graph. A captured constant has the id that it has in the outer graph.
using ConstantIds = IdVector<TensorId, std::optional<ConstantId>>;

// Walks the graph and its bodies. Recursion over bodies only, bounded by limits::kMaxBodyNesting.
class FiguresOfGraph {
 public:
  explicit FiguresOfGraph(const Target& target) : target_(target) {}

  GraphFigures run(const Graph& graph) {
    add_graph(graph, identify(graph, nullptr, {}), std::nullopt, 0);
    add_constants();
    for (auto& [op, totals] : by_operator_) figures_.operators.push_back({op, totals.second});
    return std::move(figures_);
  }

 private:
  ConstantIds identify(const Graph& graph, const Body* body, const ConstantIds& outer) {
    ConstantIds ids(graph.tensors().size());
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      const Tensor& tensor = graph.tensor(id);
      if (tensor.role != Role::constant || tensor.is_captured) continue;
      ids[id] = ConstantId(static_cast<std::uint32_t>(sizes_.size()));
      sizes_.push_back(tensor.size);
    }
    if (body == nullptr) return ids;
    for (const auto& [outside, inside] : body->captures) ids[inside] = outer[outside];
    return ids;
  }

  void add_graph(const Graph& graph, const ConstantIds& constants, const std::optional<OuterNode>& outer, int depth) {
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
      const std::size_t row = figures_.nodes.size();
      figures_.nodes.push_back({.graph = &graph, .node = id, .outer = outer, .depth = depth});
      add_node(figures_.nodes.back(), constants);
      const std::vector<Body>& bodies = graph.node(id).bodies;
      for (std::size_t position = 0; position < bodies.size(); ++position) {
        const Body& body = bodies[position];
        add_graph(*body.graph, identify(*body.graph, &body, constants), OuterNode{row, position}, depth + 1);
      }
    }
  }

  void add_node(NodeFigures& row, const ConstantIds& constants) {
    const Graph& graph = *row.graph;
    const Operator& op = graph.op(row.node);
    auto& [number, totals] =
        by_operator_.try_emplace(full_name(op), static_cast<std::uint32_t>(by_operator_.size()), FigureTotals{})
            .first->second;
    std::vector<TensorId> inputs;
    for (const std::optional<TensorId>& input : graph.node(row.node).inputs) {
      if (input) inputs.push_back(*input);
    }
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    for (TensorId input : inputs) {
      const Bytes size = graph.tensor(input).size;
      (constants[input] ? row.constants : row.read) += size;
      if (constants[input]) uses_.emplace_back(number, *constants[input]);
    }
    for (const std::optional<TensorId>& output : graph.node(row.node).outputs) {
      if (output) row.written += graph.tensor(*output).size;
    }
    const Kernel kernel = target_.catalogue->kernels(graph, row.node).front();
    if (kernel.is_memory_known) row.scratch = kernel.scratch;
    row.macs = multiply_accumulates(graph, row.node);
    count(row, totals);
    count(row, figures_.totals);
  }

  static void count(const NodeFigures& row, FigureTotals& totals) {
    ++totals.nodes;
    totals.read.add(row.read.count());
    totals.written.add(row.written.count());
    totals.macs.add(row.macs);
    totals.scratch = std::max(totals.scratch, row.scratch.value_or(Bytes(0)));
  }

  // Counts each constant once per operator, and once in all.
  void add_constants() {
    std::sort(uses_.begin(), uses_.end());
    uses_.erase(std::unique(uses_.begin(), uses_.end()), uses_.end());
    std::vector<FigureTotals*> totals(by_operator_.size());
    for (auto& [op, numbered] : by_operator_) totals[numbered.first] = &numbered.second;
    std::vector<ConstantId> used;
    for (const auto& [number, constant] : uses_) {
      totals[number]->constants += sizes_[constant];
      used.push_back(constant);
    }
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (ConstantId constant : used) figures_.totals.constants += sizes_[constant];
  }

  const Target& target_;
  GraphFigures figures_;
  IdVector<ConstantId, Bytes> sizes_;
  std::map<std::string, std::pair<std::uint32_t, FigureTotals>> by_operator_;  // with the number of the operator
  std::vector<std::pair<std::uint32_t, ConstantId>> uses_;                     // (number of an operator, constant)
};

}  // namespace

void FigureSum::add(std::optional<std::int64_t> figure) {
  const std::optional<std::int64_t> raised = figure ? checked_add(sum, *figure) : std::nullopt;
  if (raised) {
    sum = *raised;
  } else {
    ++left_out;
  }
}

GraphFigures graph_figures(const Graph& graph, const Target& target) { return FiguresOfGraph(target).run(graph); }

}  // namespace lowtide
