// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "weak_graphs.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "float_graphs.h"

namespace lowtide::testing {

Cluster gpu_with(std::int64_t memory) { return one_gpu(memory, 1000, 100'000'000); }

DefNode matrix_node(std::string name, std::string op, std::vector<std::string> inputs) {
  return node_of_floats(std::move(name), std::move(op), std::move(inputs), {500, 500});
}

LeanGraphDef planned(const std::vector<DefNode>& nodes, std::int64_t memory, std::optional<TransferLink> link) {
  Result<LeanGraphDef> lean =
      lean_graphdef(with_nodes({}, nodes), {.cluster = gpu_with(memory),
                                            .ends = {.feeds = {}, .fetches = {nodes.back().name}},
                                            .effort = 500'000'000,
                                            .link = link});
  if (!lean) throw std::runtime_error(lean.error().describe());
  return *std::move(lean);
}

Figures figures_of(const LeanGraphDef& lean) {
  return {.tensors = static_cast<double>(lean.peak.count()) / kTensor,
          .microseconds = lean.answer.cost / 1000,
          .reruns = lean.recomputed.size()};
}

GrapplerResult rewritten(const std::vector<DefNode>& nodes, GrapplerLevel level, std::int64_t memory) {
  Result<GrapplerResult> result =
      run_grappler(with_nodes({}, nodes),
                   {.level = level, .feeds = {}, .fetches = {nodes.back().name}, .cluster = gpu_with(memory)});
  if (!result) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

Figures grappler_figures(const std::vector<DefNode>& nodes, GrapplerLevel level, std::int64_t memory) {
  const GrapplerResult result = rewritten(nodes, level, memory);
  std::vector<DefNode> made = nodes_of_graphdef(result.graphdef);
  const auto last = std::ranges::find(made, nodes.back().name, &DefNode::name);
  std::rotate(last, last + 1, made.end());  // fetched
  Figures figures = figures_of(planned(made, 0));
  figures.reruns = result.recomputed.size();
  return figures;
}

std::vector<DefNode> chain(std::size_t count, const std::string& op) {
  std::vector<DefNode> nodes = {matrix_node("v", "VariableV2")};
  for (std::size_t at = 0; at < count; ++at) {
    std::vector<std::string> inputs = {nodes.back().name};
    if (op == "MatMul") inputs.emplace_back("v");
    nodes.push_back(matrix_node("f" + std::to_string(at), op, inputs));
  }
  nodes.push_back(matrix_node("loss", "MatMul", {nodes.back().name, "v"}));
  for (std::size_t at = count; at-- > 0;) {
    nodes.push_back(
        matrix_node("gradients/g" + std::to_string(at), "Mul", {nodes.back().name, "f" + std::to_string(at)}));
  }
  return nodes;
}

}  // namespace lowtide::testing
