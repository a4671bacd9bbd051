// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/onnx/write_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/unique_names.h"
#include "lowtide/export/onnx/onnx_headers.h"
#include "lowtide/export/onnx/opset.h"
#include "lowtide/export/onnx/types.h"
#include "lowtide/export/onnx/write_attributes.h"
#include "lowtide/graph/integer_types.h"

namespace lowtide::export_internal {
namespace {

using TensorNames = IdVector<TensorId, std::string>;

struct GraphNames {
  TensorNames tensors;
  std::vector<std::string> outputs;  // of the graph, by position
};

// Whether the content of a constant is in the file.
bool has_initializer(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.role != Role::constant || tensor.is_captured || tensor.shape.has_upper_bounds()) return false;
  return tensor.size == Bytes(0) || (graph.known_integers(id) != nullptr && is_integer_of_bytes(tensor.dtype));
}

// Whether a tensor of a body is one of the graphs around it. A body of ONNX does not return such a tensor as it is.
bool is_from_outside(const Graph& body, TensorId id) {
  const Tensor& tensor = body.tensor(id);
  if (tensor.producer) return false;
  return tensor.is_captured || (tensor.role != Role::input && !has_initializer(body, id));
}

// All recursions are as deep as the bodies, at most limits::kMaxBodyNesting.
class ModelWriter {
 public:
  explicit ModelWriter(const Graph& graph) : graph_(graph) {}

  Result<void> write(std::string& bytes, std::vector<std::string>& lost) {
    std::vector<std::string> wanted;
    collect_names(graph_, false, wanted);
    unique_ = unique_names(wanted, [](std::string_view name) { return utf8_name(name, "_"); });
    if (unique_ != wanted) lost_.insert("some names, which are changed");
    const GraphNames names = next_names(graph_, TensorNames(graph_.tensors().size(), ""), false);
    write_graph(graph_, names, *model_.mutable_graph());
    for (onnx::ValueInfoProto& input : of_bodies_) *model_.mutable_graph()->add_input() = std::move(input);
    if (!add_opset_imports(model_)) lost_.insert("a version of ONNX in which all of its operators exist as they are");
    model_.set_ir_version(ir_version_);
    model_.set_producer_name("lowtide");
    if (model_.ByteSizeLong() > static_cast<std::size_t>(limits::kMaxFileBytes)) {
      return Error{ErrorCode::over_limit, "the model has more than 2 GiB, which a file of ONNX cannot have", ""};
    }
    bytes = model_.SerializeAsString();
    lost.assign(lost_.begin(), lost_.end());
    return {};
  }

 private:
  // The names of all graphs share one scope, because a body sees those of the graphs around it.
  static void collect_names(const Graph& graph, bool is_body, std::vector<std::string>& wanted) {
    for (const Tensor& tensor : graph.tensors()) {
      if (!tensor.is_captured || !is_body) wanted.push_back(tensor.name);
    }
    for (TensorId id : graph.outputs()) {
      if (is_body && is_from_outside(graph, id)) wanted.push_back(graph.tensor(id).name + "_output");
    }
    for (const Node& node : graph.nodes()) {
      for (const Body& body : node.bodies) collect_names(*body.graph, true, wanted);
    }
  }

  // In the order of collect_names. Captured tensors have their name already.
  GraphNames next_names(const Graph& graph, TensorNames tensors, bool is_body) {
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      if (!graph.tensor(id).is_captured || !is_body) tensors[id] = unique_[next_++];
    }
    std::vector<std::string> outputs;
    for (TensorId id : graph.outputs()) {
      outputs.push_back(is_body && is_from_outside(graph, id) ? unique_[next_++] : tensors[id]);
    }
    return {std::move(tensors), std::move(outputs)};
  }

  void write_graph(const Graph& graph, const GraphNames& names, onnx::GraphProto& to);
  void write_source(const Graph& graph, TensorId id, const std::string& name, onnx::GraphProto& to);
  void write_node(const Graph& graph, NodeId id, const TensorNames& names, onnx::GraphProto& to);
  onnx::ValueInfoProto info_of(const Tensor& tensor, const std::string& name) {
    ir_version_ = std::max(ir_version_, ir_version_of(tensor.dtype));
    return value_info(name, tensor.dtype, tensor.shape, true);
  }

  const Graph& graph_;
  onnx::ModelProto model_;
  std::vector<std::string> unique_;
  std::size_t next_ = 0;
  std::vector<onnx::ValueInfoProto> of_bodies_;  // inputs of the model for constants of its bodies
  std::int64_t ir_version_ = 8;
  std::set<std::string> lost_;
};

void ModelWriter::write_source(const Graph& graph, TensorId id, const std::string& name, onnx::GraphProto& to) {
  const Tensor& tensor = graph.tensor(id);
  ir_version_ = std::max(ir_version_, ir_version_of(tensor.dtype));
  if (has_initializer(graph, id)) {
    const std::vector<std::int64_t>* content = graph.known_integers(id);
    onnx::TensorProto made = tensor.size == Bytes(0)
                                 ? tensor_of_zeros(tensor.dtype, tensor.shape.extents())
                                 : tensor_of_integers(tensor.dtype, tensor.shape.extents(), *content);
    made.set_name(name);
    *to.add_initializer() = std::move(made);
    return;
  }
  if (tensor.role == Role::constant) lost_.insert("the content of constants");
  if (tensor.role == Role::state) lost_.insert("which inputs are states");
  // A body has the inputs that its operator passes. Other tensors that no node produces come from the model.
  const bool is_of_body = &graph != &graph_ && tensor.role != Role::input;
  onnx::ValueInfoProto info = info_of(tensor, name);
  if (is_of_body) {
    of_bodies_.push_back(std::move(info));
  } else {
    *to.add_input() = std::move(info);
  }
}

void ModelWriter::write_node(const Graph& graph, NodeId id, const TensorNames& names, onnx::GraphProto& to) {
  const Node& node = graph.node(id);
  const Operator& op = graph.op(id);
  if (!node.control_inputs.empty()) lost_.insert("control inputs");
  onnx::NodeProto made;
  made.set_name(utf8_name(node.name, ""));
  made.set_domain(utf8_name(op.domain, ""));
  made.set_op_type(utf8_name(op.type, "_"));
  for (const std::optional<TensorId>& input : node.inputs) made.add_input(input ? names[*input] : "");
  for (const std::optional<TensorId>& output : node.outputs) made.add_output(output ? names[*output] : "");
  write_attributes(graph, id, made, lost_);
  for (const Body& body : node.bodies) {
    TensorNames inner(body.graph->tensors().size(), "");
    for (const auto& [outer, captured] : body.captures) inner[captured] = names[outer];
    onnx::AttributeProto& attribute = *made.add_attribute();
    attribute.set_name(utf8_name(body.name, "body"));
    attribute.set_type(onnx::AttributeProto::GRAPH);
    write_graph(*body.graph, next_names(*body.graph, std::move(inner), true), *attribute.mutable_g());
  }
  // ONNX has no node without operands.
  if (made.input_size() == 0 && made.output_size() == 0) {
    lost_.insert("operators without inputs and results");
    return;
  }
  *to.add_node() = std::move(made);
}

void ModelWriter::write_graph(const Graph& graph, const GraphNames& names, onnx::GraphProto& to) {
  to.set_name(utf8_name(graph.name(), "graph"));
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (!tensor.producer && (!tensor.is_captured || &graph == &graph_)) write_source(graph, id, names.tensors[id], to);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) write_node(graph, id, names.tensors, to);
  for (std::size_t at = 0; at < names.outputs.size(); ++at) {
    const TensorId id = graph.outputs()[at];
    *to.add_output() = info_of(graph.tensor(id), names.outputs[at]);
    if (names.outputs[at] == names.tensors[id]) continue;
    onnx::NodeProto& node = *to.add_node();
    node.set_op_type("Identity");
    node.add_input(names.tensors[id]);
    node.add_output(names.outputs[at]);
  }
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.producer && tensor.role != Role::output) *to.add_value_info() = info_of(tensor, names.tensors[id]);
  }
  if (!graph.state_updates().empty()) lost_.insert("which tensors are the next content of a state");
}

}  // namespace

Result<void> write_model(const Graph& graph, std::string& bytes, std::vector<std::string>& lost) {
  return ModelWriter(graph).write(bytes, lost);
}

}  // namespace lowtide::export_internal
