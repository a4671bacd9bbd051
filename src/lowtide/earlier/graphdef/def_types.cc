// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/def_types.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/kept_facts.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/op_kinds.h"
#include "lowtide/graph/text.h"

namespace lowtide::graphdef_internal {
namespace {

// TensorFlow has types that graph_of_graphdef does not read, because their elements are not packed in its memory.
std::int64_t written_data_type(DType dtype) {
  switch (dtype) {
    case DType::f8e5m2: return 24;
    case DType::f8e4m3fn: return 25;
    case DType::f8e4m3fnuz: return 26;
    case DType::f8e5m2fnuz: return 28;
    case DType::i4: return 29;
    case DType::u4: return 30;
    case DType::i2: return 31;
    case DType::u2: return 32;
    case DType::f4e2m1: return 33;
    default: return data_type_of(dtype);
  }
}

ProtoField number_field(std::uint32_t number, std::uint64_t value) {
  return {.number = number, .wire = ProtoWire::varint, .content = std::vector<std::uint64_t>{value}};
}

ProtoMessage shape_message(const Shape& shape) {
  ProtoMessage message;
  for (std::int64_t extent : shape.extents()) {
    ProtoMessage dim;
    dim.fields.push_back(number_field(shape_field::kSize, static_cast<std::uint64_t>(extent)));
    add_message(message, shape_field::kDim, std::move(dim));
  }
  return message;
}

ProtoMessage unknown_shape() {
  ProtoMessage message;
  message.fields.push_back(number_field(shape_field::kUnknownRank, 1));
  return message;
}

void add_value(DefNode& node, std::string_view key, ProtoMessage value) {
  ProtoMessage entry;
  add_text(entry, entry_field::kKey, std::string(key));
  add_message(entry, entry_field::kValue, std::move(value));
  node.attributes.push_back(std::move(entry));
}

void add_kept_types(DefNode& node, const Graph& graph, const std::vector<std::optional<TensorId>>& outputs) {
  ProtoMessage list;
  for (const std::optional<TensorId>& output : outputs) {
    add_text(list, value_field::kText,
             output ? print_tensor_type(graph.tensor(*output).dtype, graph.tensor(*output).shape) : "_");
  }
  ProtoMessage value;
  add_message(value, value_field::kList, std::move(list));
  add_value(node, kept::kTypes, std::move(value));
}

// The number of outputs of operators that have a rule and several outputs, except for those whose graph has them all.
std::size_t outputs_of(std::string_view op) {
  constexpr auto kTwo = std::to_array<std::string_view>(
      {"BroadcastGradientArgs", "ListDiff", "MaxPoolWithArgmax", "Merge", "SoftmaxCrossEntropyWithLogits",
       "SparseSoftmaxCrossEntropyWithLogits", "Switch", "TopK", "TopKV2"});
  if (op == "FusedBatchNormV3") return 6;
  if (op.starts_with("FusedBatchNorm") || op == "BatchNormWithGlobalNormalizationGrad") return 5;
  if (op == "FakeQuantWithMinMaxVarsGradient") return 3;
  return std::ranges::find(kTwo, op) != kTwo.end() ? 2 : 1;
}

// The numbers that graph_of_graphdef reads back. nullptr: it would not read them.
const std::vector<std::int64_t>* written_content(const Graph& graph, TensorId id) {
  const DType dtype = graph.tensor(id).dtype;
  const std::vector<std::int64_t>* content = graph.known_integers(id);
  if (content == nullptr || (dtype != DType::i32 && dtype != DType::i64) || content->size() > 4096) return nullptr;
  const auto fits = [&](std::int64_t one) { return dtype == DType::i64 || one == static_cast<std::int32_t>(one); };
  return std::all_of(content->begin(), content->end(), fits) ? content : nullptr;
}

// Whether graph_of_graphdef infers the outputs of a node from the node, its inputs and _output_shapes.
bool follows(const DefNode& written, const Graph& graph, NodeId id,
             const IdVector<TensorId, std::uint8_t>& is_unsized) {
  const Node& node = graph.node(id);
  const ProtoMessage graphdef = with_nodes({}, {written});
  const NodeView view(*messages_of(graphdef, graph_field::kNode).front());
  std::vector<KnownTensor> known;
  for (const std::optional<TensorId>& input : node.inputs) {
    if (input) known.push_back(known_of_tensor(graph, *input, is_unsized[*input] != 0));
  }
  std::size_t count = least_outputs(view);
  for (std::size_t port = 0; port < node.outputs.size(); ++port) {
    if (node.outputs[port] && !graph.readers(*node.outputs[port]).empty()) count = std::max(count, port + 1);
  }
  if (kind_of_op(view.op()) != NodeKind::ordinary || count != node.outputs.size()) {
    return kind_of_op(view.op()) != NodeKind::ordinary && count == node.outputs.size();
  }
  NodeTypes types{.node = view, .inputs = {}, .outputs = std::vector<KnownTensor>(count)};
  for (const KnownTensor& one : known) types.inputs.push_back(&one);
  infer_node(types);
  if (!types.fault.empty()) return false;
  for (std::size_t port = 0; port < count; ++port) {
    if (!node.outputs[port]) return false;
    const Tensor& tensor = graph.tensor(*node.outputs[port]);
    const KnownTensor& found = types.outputs[port];
    if (is_unsized[*node.outputs[port]] != 0) {
      if (found.dtype && found.extents) return false;
      continue;
    }
    const bool is_same = found.dtype == tensor.dtype && !tensor.shape.has_upper_bounds() &&
                         (!found.extents || *found.extents == tensor.shape.extents());
    if (!is_same) return false;
  }
  return true;
}

}  // namespace

IdVector<TensorId, std::uint8_t> unsized_tensors(const Graph& graph) {
  IdVector<TensorId, std::uint8_t> is_unsized(graph.tensors().size(), 0);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.dtype != DType::u8 || tensor.shape != Shape({1}) || tensor.role == Role::constant) continue;
    const auto is_unsized_node = [&](NodeId node) { return graph.op(node).domain == "tensorflow.unsized"; };
    const std::span<const NodeId> readers = graph.readers(id);
    const bool is_open = tensor.producer
                             ? is_unsized_node(*tensor.producer)
                             : !readers.empty() && std::all_of(readers.begin(), readers.end(), is_unsized_node);
    is_unsized[id] = is_open ? 1 : 0;
  }
  return is_unsized;
}

KnownTensor known_of_tensor(const Graph& graph, TensorId id, bool is_unsized) {
  if (is_unsized) return {};
  const Tensor& tensor = graph.tensor(id);
  KnownTensor known{.dtype = tensor.dtype, .extents = tensor.shape.extents(), .content = std::nullopt};
  const std::vector<std::int64_t>* content = tensor.role == Role::constant ? written_content(graph, id) : nullptr;
  if (content != nullptr && tensor.shape.rank() <= 1 && content->size() <= 64) known.content = *content;
  return known;
}

bool add_source_types(DefNode& node, const Graph& graph, TensorId id, bool is_unsized) {
  const Tensor& tensor = graph.tensor(id);
  const std::int64_t data_type = written_data_type(tensor.dtype);
  if (is_unsized) {
    set_type(node, "dtype", data_type);
    return true;
  }
  set_type(node, "dtype", data_type);
  bool is_content_known = true;
  if (tensor.role != Role::constant) {
    set_shape(node, "shape", tensor.shape.extents());
  } else {
    ProtoMessage numbers;
    numbers.fields.push_back(number_field(tensor_field::kType, static_cast<std::uint64_t>(data_type)));
    add_message(numbers, tensor_field::kShape, shape_message(tensor.shape));
    const std::vector<std::int64_t>* content = written_content(graph, id);
    is_content_known = content != nullptr || tensor.size == Bytes(0);
    const std::uint32_t field = tensor.dtype == DType::i32 ? tensor_field::kInts : tensor_field::kInt64s;
    for (std::size_t at = 0; content != nullptr && at < content->size(); ++at) {
      numbers.fields.push_back(number_field(field, static_cast<std::uint64_t>((*content)[at])));
    }
    ProtoMessage value;
    add_message(value, value_field::kTensor, std::move(numbers));
    add_value(node, "value", std::move(value));
    if (content == nullptr) set_true(node, kept::kNoContent);
  }
  if (tensor.shape.has_upper_bounds() || data_type_of(tensor.dtype) == 0) add_kept_types(node, graph, {id});
  return is_content_known;
}

void add_output_types(DefNode& node, const Graph& graph, NodeId id, const IdVector<TensorId, std::uint8_t>& is_unsized,
                      bool is_own) {
  const std::vector<std::optional<TensorId>>& outputs = graph.node(id).outputs;
  // TensorFlow refuses a node with fewer shapes than outputs, and a graph may lack outputs that no node reads.
  const bool is_of_unknown_count = is_own && !has_rule(node.op);
  ProtoMessage list;
  bool has_shape = false;
  bool has_unsized = false;
  for (const std::optional<TensorId>& output : outputs) {
    const bool is_known = output && is_unsized[*output] == 0;
    has_shape = has_shape || is_known;
    has_unsized = has_unsized || (output && is_unsized[*output] != 0);
    add_message(list, value_field::kShape, is_known ? shape_message(graph.tensor(*output).shape) : unknown_shape());
  }
  for (std::size_t count = outputs.size(); is_own && count < outputs_of(node.op); ++count) {
    add_message(list, value_field::kShape, unknown_shape());
  }
  if (has_shape && (has_unsized || !is_of_unknown_count)) {
    ProtoMessage value;
    add_message(value, value_field::kList, std::move(list));
    add_value(node, "_output_shapes", std::move(value));
  }
  const bool has_all_shapes = is_own && !(is_of_unknown_count && has_shape);
  if (!has_unsized && (!has_all_shapes || !follows(node, graph, id, is_unsized))) add_kept_types(node, graph, outputs);
}

void add_missing_attributes(DefNode& node, const Graph& graph, NodeId id) {
  std::vector<std::optional<DType>> inputs;
  for (const std::optional<TensorId>& input : graph.node(id).inputs) {
    if (input) inputs.push_back(graph.tensor(*input).dtype);
  }
  const std::vector<std::optional<TensorId>>& outputs = graph.node(id).outputs;
  const std::optional<DType> first = inputs.empty() ? std::nullopt : inputs.front();
  const std::optional<DType> output =
      outputs.empty() || !outputs.front() ? std::nullopt : std::optional(graph.tensor(*outputs.front()).dtype);
  const auto mark = [&](std::string_view key) { add_to_list(node, kept::kAdded, std::string(key)); };
  const auto add_type = [&](std::string_view key, std::optional<DType> dtype) {
    if (!dtype || has_attribute(node, key)) return;
    set_type(node, key, written_data_type(*dtype));
    mark(key);
  };
  const std::string_view from = type_attribute(node.op);
  if (from == "T") add_type("T", output);
  if (from == "dtype") add_type("dtype", output);
  if (from == "bool" && !node.op.starts_with("Logical") && !node.op.starts_with("Is") &&
      node.op != "VarIsInitializedOp")
    add_type("T", first);
  if (from == "DstT") {
    add_type("SrcT", first);
    add_type("DstT", output);
  }
  if (from == "out_type") {
    add_type("T", first);
    add_type("out_type", output);
  }
  if (from == "dtype" && node.op != "TemporaryVariable") add_type("T", first);
  const bool is_concat = node.op == "ConcatV2";
  if ((is_concat || node.op == "AddN" || node.op == "AccumulateNV2") && !has_attribute(node, "N")) {
    const std::size_t count = inputs.size() - (is_concat && !inputs.empty() ? 1 : 0);
    ProtoMessage value;
    value.fields.push_back(number_field(value_field::kInteger, count));
    add_value(node, "N", std::move(value));
    mark("N");
  }
}

}  // namespace lowtide::graphdef_internal
