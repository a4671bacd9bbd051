// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/base/quote.h"
#include "lowtide/graph/text.h"
#include "lowtide/graph/text_lexer.h"
#include "lowtide/graph/text_values.h"

namespace lowtide {
namespace {

std::string print_name(std::string_view name) {
  return graph_internal::is_plain_name(name) ? std::string(name) : escaped(name);
}

// Prints one graph. Ids follow the order of declarations, so the line of a producer declares its outputs only if that
// keeps their ids. Otherwise they are declared on lines of their own.
class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, std::string indent, std::string& out)
      : graph_(graph), indent_(std::move(indent)), out_(out) {}

  void print() {
    out_ += "{\n";
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) print_node(id);
    declare_until(TensorId(static_cast<std::uint32_t>(graph_.tensors().size())));
    if (!graph_.outputs().empty()) {
      out_ += indent_ + "  output ";
      for (std::size_t at = 0; at < graph_.outputs().size(); ++at) {
        if (at > 0) out_ += ", ";
        out_ += name_of(graph_.outputs()[at]);
      }
      out_ += "\n";
    }
    for (const StateUpdate& update : graph_.state_updates()) {
      out_ += indent_ + "  update " + name_of(update.state) + " = " + name_of(update.next) + "\n";
    }
    out_ += indent_ + "}";
  }

 private:
  [[nodiscard]] std::string name_of(TensorId id) const { return print_name(graph_.tensor(id).name); }

  void print_type(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    out_ += print_tensor_type(tensor.dtype, tensor.shape);
    if (tensor.constant) out_ += " data " + std::to_string(tensor.constant->value());
    const std::vector<std::int64_t>* known = graph_.known_integers(id);
    if (known != nullptr) out_ += " = " + graph_internal::print_known_integers(*known);
  }

  void declare_until(TensorId end) {
    for (; next_ < end; next_ = TensorId(next_.value() + 1)) {
      const Tensor& tensor = graph_.tensor(next_);
      out_ += indent_ + "  ";
      if (tensor.is_captured) out_ += "captured ";
      out_ += tensor.producer ? "tensor" : to_string(tensor.role);
      out_ += " " + name_of(next_) + " : ";
      print_type(next_);
      out_ += "\n";
    }
  }

  // Returns the outputs that the line of their producer declares.
  std::vector<TensorId> outputs_to_declare(const Node& node) {
    std::vector<TensorId> undeclared;
    for (const std::optional<TensorId>& output : node.outputs) {
      if (output && *output >= next_) undeclared.push_back(*output);
    }
    if (undeclared.empty()) return {};
    bool consecutive = true;
    for (std::size_t at = 1; at < undeclared.size(); ++at) {
      consecutive = consecutive && undeclared[at].value() == undeclared[at - 1].value() + 1;
    }
    if (consecutive) {
      declare_until(undeclared.front());
      next_ = TensorId(undeclared.back().value() + 1);
      return undeclared;
    }
    declare_until(TensorId(std::max_element(undeclared.begin(), undeclared.end())->value() + 1));
    return {};
  }

  void print_tensors(const std::vector<std::optional<TensorId>>& tensors) {
    for (std::size_t at = 0; at < tensors.size(); ++at) {
      if (at > 0) out_ += ", ";
      out_ += tensors[at] ? name_of(*tensors[at]) : "_";
    }
  }

  void print_node(NodeId id) {
    const Node& node = graph_.node(id);
    const Operator& op = graph_.op(id);
    const std::vector<TensorId> declared_here = outputs_to_declare(node);
    out_ += indent_ + "  ";
    print_tensors(node.outputs);
    if (!node.outputs.empty()) out_ += " = ";
    if (!op.domain.empty()) out_ += print_name(op.domain) + "::";
    out_ += print_name(op.type) + "(";
    print_tensors(node.inputs);
    out_ += ")";
    if (!node.name.empty()) out_ += " " + escaped(node.name);
    print_control_inputs(node);
    print_attributes(node);
    for (std::size_t at = 0; at < declared_here.size(); ++at) {
      out_ += at == 0 ? " : " : ", ";
      print_type(declared_here[at]);
    }
    out_ += "\n";
  }

  // Refers to a node by a tensor that it produces, because its number changes when lines are moved.
  void print_control_inputs(const Node& node) {
    if (node.control_inputs.empty()) return;
    out_ += " after (";
    for (std::size_t at = 0; at < node.control_inputs.size(); ++at) {
      if (at > 0) out_ += ", ";
      const NodeId before = node.control_inputs[at];
      const std::vector<std::optional<TensorId>>& outputs = graph_.node(before).outputs;
      const auto output = std::find_if(outputs.begin(), outputs.end(), [](const auto& id) { return id.has_value(); });
      out_ += output != outputs.end() ? name_of(**output) : "node " + std::to_string(before.value());
    }
    out_ += ")";
  }

  void print_attributes(const Node& node) {
    if (node.attributes.empty() && node.bodies.empty()) return;
    const std::string separator = node.bodies.empty() ? "" : "\n" + indent_ + "    ";
    out_ += " {";
    bool is_first = true;
    const auto start = [&](const std::string& name) {
      if (!is_first) out_ += separator.empty() ? ", " : ",";
      is_first = false;
      out_ += separator + print_name(name) + " = ";
    };
    for (const Attribute& attribute : node.attributes) {
      start(attribute.name);
      out_ += graph_internal::print_attribute_value(attribute.value);
    }
    for (const Body& body : node.bodies) {
      start(body.name);
      print_body(body);
    }
    if (!node.bodies.empty()) out_ += "\n" + indent_ + "  ";
    out_ += "}";
  }

  void print_body(const Body& body) {
    out_ += "graph " + escaped(body.graph->name()) + " ";
    for (std::size_t at = 0; at < body.captures.size(); ++at) {
      const auto& [outer, inner] = body.captures[at];
      out_ += at == 0 ? "captures (" : ", ";
      out_ += print_name(body.graph->tensor(inner).name);
      if (graph_.tensor(outer).name != body.graph->tensor(inner).name) out_ += " = " + name_of(outer);
    }
    if (!body.captures.empty()) out_ += ") ";
    GraphPrinter(*body.graph, indent_ + "    ", out_).print();  // bodies nest at most limits::kMaxBodyNesting deep
  }

  const Graph& graph_;
  const std::string indent_;
  std::string& out_;
  TensorId next_;  // the first tensor that is not declared yet
};

}  // namespace

std::string print_tensor_type(DType dtype, const Shape& shape) {
  return std::string(to_string(dtype)) + to_string(shape);
}

std::string print_graph(const Graph& graph) {
  std::string out = "graph " + escaped(graph.name()) + " ";
  GraphPrinter(graph, "", out).print();
  return out + "\n";
}

}  // namespace lowtide
