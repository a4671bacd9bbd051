// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/chain.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/text.h"

namespace lowtide {
namespace {

// The element types of an operator. "Float" is f32 or f16, the same one for all operands and the result.
enum class Types : std::uint8_t {
  floats,      // of floats, a float
  comparison,  // of floats, a bool
  logic,       // of bools, a bool
  choice,      // of a bool and two floats, a float
  quantize,    // of two f32, and an integer of 8 bits, such an integer
  dequantize,  // of an integer of 8 bits, an f32, and such an integer, an f32
};

struct ChainRow {
  std::string_view type;
  std::size_t fewest = 1;  // operands
  std::size_t most = 1;
  Types types = Types::floats;
  bool has_bounds = false;  // the operands after the first one must have one element
};

constexpr auto kChainRows = std::to_array<ChainRow>({
    {"Abs"},
    {"Add", 2, 2},
    {"And", 2, 2, Types::logic},
    {"Ceil"},
    {"Celu"},
    {"Clip", 1, 3, Types::floats, true},
    {"DequantizeLinear", 2, 3, Types::dequantize, true},
    {"Div", 2, 2},
    {"Elu"},
    {"Equal", 2, 2, Types::comparison},
    {"Erf"},
    {"Exp"},
    {"Floor"},
    {"Gelu"},
    {"Greater", 2, 2, Types::comparison},
    {"GreaterOrEqual", 2, 2, Types::comparison},
    {"HardSigmoid"},
    {"HardSwish"},
    {"IsInf", 1, 1, Types::comparison},
    {"IsNaN", 1, 1, Types::comparison},
    {"LeakyRelu"},
    {"Less", 2, 2, Types::comparison},
    {"LessOrEqual", 2, 2, Types::comparison},
    {"Log"},
    {"Max", 2, 2},
    {"Min", 2, 2},
    {"Mish"},
    {"Mul", 2, 2},
    {"Neg"},
    {"Not", 1, 1, Types::logic},
    {"Or", 2, 2, Types::logic},
    {"PRelu", 2, 2},
    {"Pow", 2, 2},
    {"QuantizeLinear", 2, 3, Types::quantize, true},
    {"Reciprocal"},
    {"Relu"},
    {"Round"},
    {"Selu"},
    {"Sigmoid"},
    {"Sign"},
    {"Softplus"},
    {"Softsign"},
    {"Sqrt"},
    {"Sub", 2, 2},
    {"Sum", 2, 2},
    {"Swish"},
    {"Tanh"},
    {"ThresholdedRelu"},
    {"Where", 3, 3, Types::choice},
    {"Xor", 2, 2, Types::logic},
});

static_assert(std::ranges::is_sorted(kChainRows, {}, &ChainRow::type));

const ChainRow* row_of(const Operator& op) {
  if (!op.domain.empty() && op.domain != "ai.onnx") return nullptr;
  const auto row = std::ranges::lower_bound(kChainRows, op.type, {}, &ChainRow::type);
  return row != kChainRows.end() && row->type == op.type ? &*row : nullptr;
}

bool is_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f16; }

// An omitted zero point is 0.
bool converts_bytes(const ChainRow& row, const std::vector<DType>& operands, DType result) {
  const bool is_quantize = row.types == Types::quantize;
  const DType integer = is_quantize ? result : operands[0];
  const DType real = is_quantize ? operands[0] : result;
  return is_byte(integer) && real == DType::f32 && operands[1] == DType::f32 &&
         (operands.size() < 3 || operands[2] == integer);
}

bool has_types(const ChainRow& row, const std::vector<DType>& operands, DType result) {
  if (row.types == Types::quantize || row.types == Types::dequantize) return converts_bytes(row, operands, result);
  const DType of_result = row.types == Types::comparison || row.types == Types::logic ? DType::boolean : result;
  if (result != of_result || (result != DType::boolean && !is_float(result))) return false;
  const DType first = operands[0];
  const auto are_all = [&](std::size_t from, DType dtype) {
    return std::all_of(operands.begin() + static_cast<std::ptrdiff_t>(from), operands.end(),
                       [&](DType one) { return one == dtype; });
  };
  switch (row.types) {
    case Types::floats: return is_float(result) && are_all(0, result);
    case Types::comparison: return is_float(first) && are_all(0, first);
    case Types::logic: return are_all(0, DType::boolean);
    case Types::choice: return first == DType::boolean && is_float(result) && are_all(1, result);
    case Types::quantize:
    case Types::dequantize: break;
  }
  return false;
}

// The extents of operands that are broadcast to each other. Returns nullopt if two of them disagree.
std::optional<std::vector<std::int64_t>> broadcast_extents(const std::vector<const Tensor*>& operands) {
  std::size_t rank = 0;
  for (const Tensor* operand : operands) rank = std::max(rank, operand->shape.extents().size());
  std::vector<std::int64_t> all(rank, 1);
  for (const Tensor* operand : operands) {
    const std::vector<std::int64_t>& extents = operand->shape.extents();
    for (std::size_t at = 0; at < extents.size(); ++at) {
      std::int64_t& extent = all[rank - extents.size() + at];
      if (extents[at] == 1 || extents[at] == extent) continue;
      if (extent != 1) return std::nullopt;
      extent = extents[at];
    }
  }
  return all;
}

bool is_static(const Tensor& tensor) {
  return !tensor.shape.has_upper_bounds() && tensor.shape.rank() <= kMostChainAxes;
}

bool has_one_element(const Tensor& tensor) {
  return std::ranges::all_of(tensor.shape.extents(), [](std::int64_t extent) { return extent == 1; });
}

bool has_equal_type(const Tensor& a, const Tensor& b) { return a.dtype == b.dtype && a.shape == b.shape; }

// Whether the last block of a tensor [N, blocks, ..., lanes] has some of the channels, and the others are full.
bool has_blocks_of(const Shape& shape, std::int64_t channels) {
  if (shape.rank() < 3) return false;
  const std::int64_t lanes = shape[shape.rank() - 1];
  return lanes > 0 && channels > 0 && shape[1] == (channels - 1) / lanes + 1;
}

}  // namespace

std::string chain_fault(const Graph& program, const std::vector<const Tensor*>& operands, const Tensor& of_node) {
  if (operands.size() != program.inputs().size() || program.outputs().size() != 1)
    return "its program has " + std::to_string(program.inputs().size()) + " inputs and " +
           std::to_string(program.outputs().size()) + " outputs, but the node has " + std::to_string(operands.size()) +
           " and 1";
  if (operands.size() > kMostChainOperands || program.nodes().size() > kMostFusedNodes || program.nodes().empty())
    return "its program has " + std::to_string(program.nodes().size()) + " nodes and " +
           std::to_string(operands.size()) + " operands; the limits are " + std::to_string(kMostFusedNodes) + " and " +
           std::to_string(kMostChainOperands);
  const Tensor& result = program.tensor(program.outputs()[0]);
  bool has_types = has_equal_type(result, of_node) && result.producer.has_value();
  for (std::size_t at = 0; at < operands.size(); ++at) {
    has_types =
        has_types && operands[at] != nullptr && has_equal_type(program.tensor(program.inputs()[at]), *operands[at]);
  }
  if (!has_types) return "its program has other types than its operands and its result";
  for (NodeId id : all_ids<NodeId>(program.nodes().size())) {
    if (!may_be_in_chain(program, id)) return "its program has a node " + program.op(id).type + " that no chain has";
    if (program.tensor(*program.node(id).outputs[0]).shape != result.shape)
      return "its program has results of several shapes";
    // Steps write the result of the program to the result of the node, and nothing reads it there.
    if (std::ranges::count(program.node(id).inputs, std::optional(program.outputs()[0])) > 0)
      return "its program has a node that reads the output of the program";
  }
  if (operands.size() + program.nodes().size() != program.tensors().size())
    return "its program has tensors that are neither operands nor results";
  return "";
}

namespace {

// Returns "" if the program is one of the node, otherwise what is wrong.
std::string fault_of(const Graph& program, const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || !node.outputs[0])
    return "it has " + std::to_string(node.outputs.size()) + " results, and a chain has one";
  const Tensor& result = graph.tensor(*node.outputs[0]);
  std::vector<const Tensor*> operands;
  for (const std::optional<TensorId>& input : node.inputs) operands.push_back(input ? &graph.tensor(*input) : nullptr);
  std::string fault = chain_fault(program, operands, result);
  if (!fault.empty()) return fault;
  const std::optional<std::int64_t> channels = chain_channels(node);
  if (channels && !has_blocks_of(result.shape, *channels))
    return "its result " + to_string(result.shape) + " does not have blocks of " + std::to_string(*channels) +
           " channels";
  return "";
}

}  // namespace

bool may_be_in_chain(const Graph& graph, NodeId id) {
  const ChainRow* row = row_of(graph.op(id));
  const Node& node = graph.node(id);
  if (row == nullptr || node.outputs.size() != 1 || !node.outputs[0] || !node.control_inputs.empty()) return false;
  if (node.inputs.size() < row->fewest || node.inputs.size() > row->most) return false;
  const auto* block = find_attribute<std::int64_t>(node.attributes, "block_size");
  if (block != nullptr && *block != 0) return false;  // the scales are not for all elements
  std::vector<const Tensor*> operands;
  std::vector<DType> dtypes;
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    if (!node.inputs[at] && at < row->fewest) return false;
    if (!node.inputs[at]) continue;
    operands.push_back(&graph.tensor(*node.inputs[at]));
    dtypes.push_back(operands.back()->dtype);
    if (!is_static(*operands.back())) return false;
    if (row->has_bounds && at > 0 && !has_one_element(*operands.back())) return false;
  }
  const Tensor& result = graph.tensor(*node.outputs[0]);
  return is_static(result) && has_types(*row, dtypes, result.dtype) &&
         broadcast_extents(operands) == result.shape.extents();
}

GraphBuilder::NodeSpec chain_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  LOWTIDE_CHECK(!nodes.empty() && nodes.size() <= kMostFusedNodes, "a chain has nodes, and not too many");
  GraphBuilder builder("chain");
  GraphBuilder::NodeSpec chain = GraphBuilder::spec_of(graph, nodes.back());
  chain.domain = kOwnDomain;
  chain.type = kChainType;
  chain.inputs.clear();
  chain.attributes.clear();

  std::map<TensorId, std::optional<TensorId>> in_program;  // nullopt: a result that no node has written yet
  for (NodeId id : nodes) in_program[*graph.node(id).outputs[0]] = std::nullopt;
  const auto add = [&](TensorId id, Role role) {
    const Tensor& tensor = graph.tensor(id);
    in_program[id] = builder.add_tensor({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape}, role);
  };
  for (NodeId id : nodes) {
    for (const std::optional<TensorId>& input : graph.node(id).inputs) {
      if (!input || in_program.contains(*input)) continue;
      chain.inputs.push_back(input);
      add(*input, Role::input);
    }
  }
  for (NodeId id : nodes) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph, id);
    add(*spec.outputs[0], Role::temporary);
    for (auto* list : {&spec.inputs, &spec.outputs}) {
      for (std::optional<TensorId>& tensor : *list) tensor = tensor ? in_program[*tensor] : std::nullopt;
    }
    builder.add_node(std::move(spec));
  }
  builder.set_outputs({*in_program[*graph.node(nodes.back()).outputs[0]]});
  const Result<Graph> program = std::move(builder).build();
  LOWTIDE_CHECK(program.ok(), "the program of a chain is a graph");
  chain.attributes.push_back({std::string(kProgramAttribute), chain_lines(*program)});
  return chain;
}

std::vector<std::string> chain_lines(const Graph& program) {
  const std::string text = print_graph(program);
  std::vector<std::string> lines;
  for (std::size_t begin = text.find('\n') + 1; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::size_t first = text.find_first_not_of(' ', begin);
    lines.push_back(text.substr(first, end - first));
    begin = end + 1;
  }
  lines.pop_back();  // "}"
  return lines;
}

Result<Graph> chain_graph(const std::vector<std::string>& lines) {
  std::string text = "graph \"chain\" {\n";
  for (const std::string& line : lines) text += line + "\n";
  return parse_graph(text + "}", "program");
}

std::optional<std::int64_t> chain_channels(const Node& chain) {
  const auto* channels = find_attribute<std::int64_t>(chain.attributes, kChannelsAttribute);
  return channels == nullptr ? std::nullopt : std::optional(*channels);
}

Result<Graph> chain_program(const Graph& graph, NodeId chain) {
  const Node& node = graph.node(chain);
  const std::string place = "graph " + quoted(graph.name()) + ": chain " + quoted(node.name);
  const auto* lines = find_attribute<std::vector<std::string>>(node.attributes, kProgramAttribute);
  if (lines == nullptr) return Error{ErrorCode::invalid, "it has no program", place};
  Result<Graph> program = chain_graph(*lines);
  if (!program) return Error{ErrorCode::invalid, program.error().describe(), place};
  std::string fault = fault_of(*program, graph, node);
  if (!fault.empty()) return Error{ErrorCode::invalid, std::move(fault), place};
  return program;
}

}  // namespace lowtide
