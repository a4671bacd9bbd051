// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/net_of_graph.h"

#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/op_effects.h"
#include "lowtide/graph/text.h"

namespace lowtide {
namespace netdef_internal {
namespace {

// The names of the tensors of a graph in the net.
using TensorNames = IdVector<TensorId, std::string>;

void add_numbers(ProtoMessage& to, std::uint32_t number, ProtoWire wire, std::vector<std::uint64_t> values) {
  to.fields.push_back({.number = number, .wire = wire, .content = std::move(values)});
}

std::uint64_t bits_of_real(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

struct ArgumentWriter {
  ProtoMessage& argument;

  void operator()(std::int64_t value) const {
    add_numbers(argument, argument_field::kInteger, ProtoWire::varint, {static_cast<std::uint64_t>(value)});
  }
  void operator()(double value) const {
    add_numbers(argument, argument_field::kReal, ProtoWire::fixed32, {bits_of_real(value)});
  }
  void operator()(const std::string& value) const { add_text(argument, argument_field::kText, value); }
  void operator()(const std::vector<std::int64_t>& values) const {
    std::vector<std::uint64_t> bits(values.begin(), values.end());
    if (!bits.empty()) add_numbers(argument, argument_field::kIntegers, ProtoWire::varint, std::move(bits));
  }
  void operator()(const std::vector<double>& values) const {
    std::vector<std::uint64_t> bits;
    for (double value : values) bits.push_back(bits_of_real(value));
    if (!bits.empty()) add_numbers(argument, argument_field::kReals, ProtoWire::fixed32, std::move(bits));
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) add_text(argument, argument_field::kTexts, value);
  }
  void operator()(const OpaqueAttribute& value) const { add_text(argument, argument_field::kText, value.description); }
};

ProtoMessage net_from(const Graph& graph, const TensorNames& names, const NetOfGraphOptions& options);

ProtoMessage repeats_argument(bool repeats) {
  ProtoMessage argument;
  add_text(argument, argument_field::kName, std::string(kRepeatsArgument));
  add_numbers(argument, argument_field::kInteger, ProtoWire::varint, {repeats ? 1U : 0U});
  return argument;
}

void add_tensor_types(const Graph& graph, const std::vector<std::optional<TensorId>>& tensors, std::string& text) {
  for (const std::optional<TensorId>& tensor : tensors) {
    text += (text.empty() ? "" : " ") +
            (tensor ? print_tensor_type(graph.tensor(*tensor).dtype, graph.tensor(*tensor).shape) : "none");
  }
}

// A Dropout of ONNX may be one of training, which is random.
bool repeats_results(const Operator& op, const Node& node) {
  const OperatorTraits& traits = op.traits;
  return traits.is_pure && !traits.is_random && !traits.is_stateful && node.bodies.empty() && op.type != "Dropout";
}

void add_comparison(const Graph& graph, NodeId id, ProtoMessage& to) {
  const Node& node = graph.node(id);
  ProtoMessage types;
  std::string text;
  add_tensor_types(graph, node.inputs, text);
  add_tensor_types(graph, node.outputs, text);
  add_text(types, argument_field::kName, "types");
  add_text(types, argument_field::kText, text);
  add_message(to, op_field::kArgument, std::move(types));
  add_message(to, op_field::kArgument, repeats_argument(repeats_results(graph.op(id), node)));
}

// Conv of ONNX and Conv of Caffe2 have different arguments. A comparison has one type of net on both sides.
std::string type_in_net(const Operator& op, bool is_compared) {
  if (op.domain == "caffe2" || (op.domain == "caffe2.unsized" && !is_compared)) return op.type;
  return op.domain.empty() && !is_compared ? "onnx::" + op.type : full_name(op);
}

// The recursion is as deep as the bodies, at most limits::kMaxBodyNesting.
ProtoMessage net_from_body(const Body& body, const TensorNames& outer, const NetOfGraphOptions& options) {
  TensorNames names;
  for (const Tensor& tensor : body.graph->tensors()) names.push_back(body.name + "/" + tensor.name);
  for (const auto& [captured, inner] : body.captures) names[inner] = outer[captured];
  return net_from(*body.graph, names, options);
}

ProtoMessage op_from(const Graph& graph, NodeId id, const TensorNames& names, const NetOfGraphOptions& options) {
  const Node& node = graph.node(id);
  const Operator& op = graph.op(id);
  ProtoMessage to;
  for (const std::optional<TensorId>& input : node.inputs) add_text(to, op_field::kInput, input ? names[*input] : "");
  for (const std::optional<TensorId>& output : node.outputs) {
    add_text(to, op_field::kOutput, output ? names[*output] : "");
  }
  if (!node.name.empty()) add_text(to, op_field::kName, node.name);
  add_text(to, op_field::kType, type_in_net(op, options.for_comparison));
  for (const Attribute& attribute : node.attributes) {
    ProtoMessage argument;
    add_text(argument, argument_field::kName, attribute.name);
    std::visit(ArgumentWriter{argument}, attribute.value);
    add_message(to, op_field::kArgument, std::move(argument));
  }
  if (options.for_comparison) add_comparison(graph, id, to);
  for (const Body& body : node.bodies) {
    ProtoMessage argument;
    add_text(argument, argument_field::kName, body.name);
    add_message(argument, argument_field::kNet, net_from_body(body, names, options));
    add_message(to, op_field::kArgument, std::move(argument));
  }
  for (NodeId before : node.control_inputs) {
    for (const std::optional<TensorId>& output : graph.node(before).outputs) {
      if (!output) continue;
      add_text(to, op_field::kControlInput, names[*output]);
      break;
    }
  }
  return to;
}

ProtoMessage net_from(const Graph& graph, const TensorNames& names, const NetOfGraphOptions& options) {
  ProtoMessage net;
  if (!graph.name().empty()) add_text(net, net_field::kName, graph.name());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size()))
    add_message(net, net_field::kOp, op_from(graph, id, names, options));

  for (const StateUpdate& update : graph.state_updates()) {
    if (!options.for_comparison || !options.with_updates) break;
    ProtoMessage op;
    add_text(op, op_field::kInput, names[update.state]);
    add_text(op, op_field::kInput, names[update.next]);
    add_text(op, op_field::kType, "(next state)");
    add_message(op, op_field::kArgument, repeats_argument(true));
    add_message(net, net_field::kOp, std::move(op));
  }
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (!graph.tensor(id).producer) add_text(net, net_field::kExternalInput, names[id]);
  }
  for (TensorId id : graph.outputs()) add_text(net, net_field::kExternalOutput, names[id]);
  return net;
}

}  // namespace
}  // namespace netdef_internal

ProtoMessage net_of_graph(const Graph& graph, const NetOfGraphOptions& options) {
  netdef_internal::TensorNames names;
  for (const Tensor& tensor : graph.tensors()) names.push_back(tensor.name);
  return netdef_internal::net_from(graph, names, options);
}

}  // namespace lowtide
