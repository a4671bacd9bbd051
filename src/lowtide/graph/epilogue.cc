// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/epilogue.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"

namespace lowtide {
namespace {

using Names = std::vector<std::string>;

bool is_standard_product(const Operator& op) {
  return op.domain.empty() && (op.type == kGemmType || op.type == kMatMulType);
}

// The program with the input at `first` before the others, under another name. nullopt: the name is taken.
std::optional<Graph> with_first_input(const Graph& program, std::size_t first, const std::string& name) {
  GraphBuilder builder(program.name());
  IdVector<TensorId, std::optional<TensorId>> now(program.tensors().size());
  const auto add = [&](TensorId id, const std::string& as) {
    const Tensor& tensor = program.tensor(id);
    const bool is_input = tensor.role == Role::input;
    now[id] = builder.add_tensor({.name = as, .dtype = tensor.dtype, .shape = tensor.shape},
                                 is_input ? Role::input : Role::temporary);
  };
  add(program.inputs()[first], name);
  for (TensorId id : all_ids<TensorId>(program.tensors().size())) {
    if (id != program.inputs()[first]) add(id, program.tensor(id).name);
  }
  for (NodeId id : all_ids<NodeId>(program.nodes().size())) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(program, id);
    for (auto* list : {&spec.inputs, &spec.outputs}) {
      for (std::optional<TensorId>& tensor : *list) tensor = tensor ? now[*tensor] : std::nullopt;
    }
    builder.add_node(std::move(spec));
  }
  builder.set_outputs({*now[program.outputs()[0]]});
  Result<Graph> built = std::move(builder).build();
  return built ? std::optional(*std::move(built)) : std::nullopt;
}

std::vector<const Tensor*> operands_of_epilogue(const Graph& graph, const Node& node, const Tensor& result) {
  std::vector<const Tensor*> operands = {&result};
  for (std::size_t at = kProductOperands; at < node.inputs.size(); ++at)
    operands.push_back(node.inputs[at] ? &graph.tensor(*node.inputs[at]) : nullptr);
  return operands;
}

}  // namespace

bool has_epilogue(const Node& node) {
  return std::ranges::find(node.attributes, kEpilogueAttribute, &Attribute::name) != node.attributes.end();
}

bool may_have_epilogue(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  const Node& node = graph.node(id);
  const bool is_product = is_standard_product(op) || is_lowered_product(op);
  return is_product && !has_epilogue(node) && !node.inputs.empty() && node.inputs.back() &&
         node.inputs.size() <= kProductOperands && node.outputs.size() == 1 && node.outputs[0];
}

std::optional<EpilogueParts> epilogue_parts(const Graph& graph, NodeId product, NodeId chain) {
  const bool is_chain = graph.op(chain).domain == kOwnDomain && graph.op(chain).type == kChainType;
  if (!is_chain && !may_be_in_chain(graph, chain)) return std::nullopt;
  GraphBuilder::NodeSpec spec = is_chain ? GraphBuilder::spec_of(graph, chain) : chain_of(graph, {chain});
  const auto* lines = find_attribute<Names>(spec.attributes, kProgramAttribute);
  if (lines == nullptr) return std::nullopt;
  const Result<Graph> program = chain_graph(*lines);
  if (!program || program->inputs().size() != spec.inputs.size()) return std::nullopt;
  const Tensor& result = graph.tensor(*graph.node(product).outputs[0]);
  const Tensor& of_chain = graph.tensor(*graph.node(chain).outputs[0]);
  if (result.dtype != of_chain.dtype || result.shape != of_chain.shape) return std::nullopt;
  const auto read = std::ranges::find(spec.inputs, graph.node(product).outputs[0]);
  if (read == spec.inputs.end()) return std::nullopt;
  std::optional<Graph> own =
      with_first_input(*program, static_cast<std::size_t>(read - spec.inputs.begin()), result.name);
  spec.inputs.erase(read);
  const bool is_omitted = std::ranges::any_of(spec.inputs, [](const auto& input) { return !input.has_value(); });
  if (!own || is_omitted) return std::nullopt;
  EpilogueParts parts{*std::move(own), {}};
  for (const std::optional<TensorId>& input : spec.inputs) parts.operands.push_back(*input);
  return parts;
}

GraphBuilder::NodeSpec with_epilogue(const Graph& graph, NodeId product, NodeId chain, const EpilogueParts& parts) {
  LOWTIDE_CHECK(may_have_epilogue(graph, product), "a product gets one epilogue");
  GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph, product);
  spec.domain = kOwnDomain;
  spec.attributes.push_back({std::string(kProductAttribute), spec.name});
  spec.attributes.push_back({std::string(kEpilogueAttribute), chain_lines(parts.program)});
  spec.name = graph.node(chain).name;
  spec.inputs.resize(kProductOperands);
  spec.inputs.insert(spec.inputs.end(), parts.operands.begin(), parts.operands.end());
  spec.outputs = {graph.node(chain).outputs[0]};
  return spec;
}

Result<Graph> epilogue_program(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string place = "graph " + quoted(graph.name()) + ": node " + quoted(node.name);
  const auto* lines = find_attribute<Names>(node.attributes, kEpilogueAttribute);
  if (lines == nullptr) return Error{ErrorCode::invalid, "its epilogue is no program", place};
  Result<Graph> program = chain_graph(*lines);
  if (!program) return Error{ErrorCode::invalid, program.error().describe(), place};
  if (node.inputs.size() < kProductOperands || node.outputs.size() != 1 || !node.outputs[0])
    return Error{ErrorCode::invalid, "a node with an epilogue has three operands of its own and one result", place};
  const Tensor& result = graph.tensor(*node.outputs[0]);
  std::string fault = chain_fault(*program, operands_of_epilogue(graph, node, result), result);
  if (!fault.empty()) return Error{ErrorCode::invalid, std::move(fault), place};
  return program;
}

}  // namespace lowtide
