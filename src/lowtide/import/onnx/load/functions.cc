// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/functions.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/load/call_costs.h"
#include "lowtide/import/onnx/load/fresh_names.h"
#include "lowtide/import/onnx/proto/attributes.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {
namespace {

using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::NodeProto;
using NodeField = google::protobuf::RepeatedPtrField<NodeProto>;

constexpr std::size_t kMostPrefixBytes = 200;

// Maps the names of a function, or of a body inside it, to names of the model.
struct NameScope {
  std::unordered_map<std::string, std::string> names;
  const NameScope* around = nullptr;

  [[nodiscard]] const std::string* find(const std::string& name) const {
    for (const NameScope* scope = this; scope != nullptr; scope = scope->around) {
      const auto found = scope->names.find(name);
      if (found != scope->names.end()) return &found->second;
    }
    return nullptr;
  }
};

// A call that is being expanded.
struct Frame {
  const FunctionProto* function = nullptr;
  int next_node = 0;
  std::string prefix;
  NameScope scope;
  std::unordered_map<std::string, AttributeProto> attributes;
  // (from, to): outputs that no node produces under their name
  std::vector<std::pair<std::string, std::string>> copies;
  std::size_t opsets = 0;
};

class Inliner {
 public:
  Inliner(const FunctionTable& functions, const GraphProto& main, std::int64_t file_bytes, OpsetScopes& opsets)
      : functions_(functions), bytes_left_(inlined_byte_budget(file_bytes)), opsets_(opsets) {
    fresh_.reserve_all(main);
  }

  // Recurses over bodies only; check_call_costs has limited their nesting.
  Result<void> run(GraphProto& graph) {
    NodeField nodes;
    nodes.Swap(graph.mutable_node());
    graph.mutable_node()->Reserve(nodes.size());
    for (NodeProto& node : nodes) {
      if (functions_.callee(node) != nullptr) {
        LOWTIDE_RETURN_IF_ERROR(expand(node, *graph.mutable_node()));
        continue;
      }
      for (AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) LOWTIDE_RETURN_IF_ERROR(run(*attribute.mutable_g()));
        for (GraphProto& body : *attribute.mutable_graphs()) LOWTIDE_RETURN_IF_ERROR(run(body));
      }
      graph.add_node()->Swap(&node);
    }
    return {};
  }

 private:
  // Appends the nodes that replace the call. Calls inside calls use a stack of frames instead of recursion.
  Result<void> expand(const NodeProto& call, NodeField& out) {
    std::vector<Frame> frames;
    LOWTIDE_TRY(Frame first, open(call, ""));
    frames.push_back(std::move(first));
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next_node == frame.function->node_size()) {
        for (const auto& [from, to] : frame.copies) add_copy(from, to, frame, out);
        frames.pop_back();
        continue;
      }
      NodeProto node = frame.function->node(frame.next_node++);
      LOWTIDE_RETURN_IF_ERROR(instantiate(frame, frame.scope, node));
      if (functions_.callee(node) != nullptr) {
        LOWTIDE_TRY(Frame inner, open(node, frame.prefix));
        frames.push_back(std::move(inner));
      } else {
        NodeProto* added = out.Add();
        added->Swap(&node);
        opsets_.assign(*added, frame.opsets);
      }
    }
    return {};
  }

  // Binds the names and attributes of a function to those of a call.
  Result<Frame> open(const NodeProto& call, const std::string& around) {
    const FunctionProto& function = *functions_.callee(call);
    const std::string place = "call " + quoted(call.name()) + " of function " + quoted(function.name());
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) {
      return Error{ErrorCode::invalid,
                   "the call has " + with_count(call.input_size(), "input") + " and " +
                       with_count(call.output_size(), "output") + ", but the function takes at most " +
                       std::to_string(function.input_size()) + " and " + std::to_string(function.output_size()),
                   place};
    }
    Frame frame;
    frame.function = &function;
    frame.prefix = prefix_of(call, around);
    for (const AttributeProto& standard : function.attribute_proto()) frame.attributes[standard.name()] = standard;
    for (const AttributeProto& given : call.attribute()) {
      if (is_graph_attribute(given)) {
        return Error{ErrorCode::unsupported,
                     "attribute " + quoted(given.name()) + " passes a graph to the function, which is not supported",
                     place};
      }
      frame.attributes[given.name()] = given;
    }
    for (int at = 0; at < function.input_size(); ++at) {
      frame.scope.names[function.input(at)] = at < call.input_size() ? call.input(at) : std::string();
    }
    bind_outputs(call, frame);
    for (const NodeProto& node : function.node()) {
      for (const std::string& output : node.output()) bind_local(output, frame, frame.scope);
    }
    Result<OpsetImports> imports = opset_imports_from(function.opset_import());
    if (!imports) return Error{imports.error().code, imports.error().message, "function " + quoted(function.name())};
    imports->insert(opsets_.of_model().begin(), opsets_.of_model().end());
    frame.opsets = opsets_.add(*std::move(imports));
    return frame;
  }

  void bind_outputs(const NodeProto& call, Frame& frame) {
    const FunctionProto& function = *frame.function;
    for (int at = 0; at < function.output_size(); ++at) {
      const std::string actual = at < call.output_size() ? call.output(at) : std::string();
      const auto [bound, is_new] = frame.scope.names.try_emplace(function.output(at), actual);
      if (!is_new && !actual.empty()) {
        frame.copies.emplace_back(bound->second, actual);  // an input passed through, or an output listed twice
      } else if (is_new && actual.empty()) {
        bound->second = fresh_.make(frame.prefix + "/" + function.output(at));
      }
    }
  }

  void bind_local(const std::string& name, const Frame& frame, NameScope& scope) {
    if (name.empty() || scope.names.contains(name)) return;
    scope.names[name] = fresh_.make(frame.prefix + "/" + name);
  }

  std::string prefix_of(const NodeProto& call, const std::string& around) {
    ++calls_;
    // The name of a call inside a function already begins with the prefix of the outer call.
    std::string prefix = call.name();
    if (prefix.empty()) prefix = (around.empty() ? "" : around + "/") + call.op_type();
    return prefix.size() <= kMostPrefixBytes ? prefix : "call" + std::to_string(calls_);
  }

  void add_copy(const std::string& from, const std::string& to, const Frame& frame, NodeField& out) {
    NodeProto* copy = out.Add();
    copy->set_op_type("Identity");
    copy->set_name(frame.prefix + "/" + to);
    copy->add_input(from);
    copy->add_output(to);
  }

  // Turns a copied node of a function into a node of the model.
  Result<void> instantiate(const Frame& frame, const NameScope& scope, NodeProto& node) {
    const std::string place = "function " + quoted(frame.function->name()) + ": node " + quoted(node.name());
    if (!node.name().empty()) node.set_name(frame.prefix + "/" + node.name());
    for (std::string* name : all_names(node)) {
      if (name->empty()) continue;
      const std::string* actual = scope.find(*name);
      if (actual == nullptr) {
        return Error{ErrorCode::invalid, "reads " + quoted(*name) + ", but nothing in the function produces it", place};
      }
      *name = *actual;
    }
    LOWTIDE_RETURN_IF_ERROR(bind_attributes(frame, node));
    bytes_left_ -= static_cast<std::int64_t>(node.ByteSizeLong());
    if (bytes_left_ < 0) {
      return Error{ErrorCode::over_limit,
                   "the inlined nodes exceed the limit of 16 MB + 4 x the file (inlined_byte_budget)", place};
    }
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) LOWTIDE_RETURN_IF_ERROR(instantiate_body(frame, scope, *attribute.mutable_g()));
      for (GraphProto& body : *attribute.mutable_graphs()) {
        LOWTIDE_RETURN_IF_ERROR(instantiate_body(frame, scope, body));
      }
    }
    return {};
  }

  static std::vector<std::string*> all_names(NodeProto& node) {
    std::vector<std::string*> names;
    for (std::string& input : *node.mutable_input()) names.push_back(&input);
    for (std::string& output : *node.mutable_output()) names.push_back(&output);
    return names;
  }

  // An attribute that refers to an attribute of the call takes its value. Without a value it is omitted.
  static Result<void> bind_attributes(const Frame& frame, NodeProto& node) {
    google::protobuf::RepeatedPtrField<AttributeProto> bound;
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.ref_attr_name().empty()) {
        bound.Add()->Swap(&attribute);
        continue;
      }
      const auto given = frame.attributes.find(attribute.ref_attr_name());
      if (given == frame.attributes.end()) continue;
      AttributeProto* copy = bound.Add();
      *copy = given->second;
      copy->set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&bound);
    return {};
  }

  Result<void> instantiate_body(const Frame& frame, const NameScope& around, GraphProto& body) {
    NameScope scope;
    scope.around = &around;
    for (const auto& input : body.input()) bind_local(input.name(), frame, scope);
    for (const auto& tensor : body.initializer()) bind_local(tensor.name(), frame, scope);
    for (const auto& tensor : body.sparse_initializer()) bind_local(tensor.values().name(), frame, scope);
    for (const NodeProto& node : body.node()) {
      for (const std::string& output : node.output()) bind_local(output, frame, scope);
    }
    rename_values(scope, body);
    NodeField nodes;
    nodes.Swap(body.mutable_node());
    for (NodeProto& node : nodes) {
      LOWTIDE_RETURN_IF_ERROR(instantiate(frame, scope, node));
      if (functions_.callee(node) != nullptr) {
        LOWTIDE_RETURN_IF_ERROR(expand(node, *body.mutable_node()));
      } else {
        NodeProto* added = body.add_node();
        added->Swap(&node);
        opsets_.assign(*added, frame.opsets);
      }
    }
    return {};
  }

  static void rename_values(const NameScope& scope, GraphProto& body) {
    const auto rename = [&](std::string& name) {
      if (const std::string* actual = scope.find(name)) name = *actual;
    };
    for (auto& input : *body.mutable_input()) rename(*input.mutable_name());
    for (auto& output : *body.mutable_output()) rename(*output.mutable_name());
    for (auto& value : *body.mutable_value_info()) rename(*value.mutable_name());
    for (auto& tensor : *body.mutable_initializer()) rename(*tensor.mutable_name());
    for (auto& tensor : *body.mutable_sparse_initializer()) rename(*tensor.mutable_values()->mutable_name());
  }

  const FunctionTable& functions_;
  std::int64_t bytes_left_;
  OpsetScopes& opsets_;
  FreshNames fresh_;
  std::int64_t calls_ = 0;
};

}  // namespace

Result<void> inline_functions(onnx::ModelProto& model, std::int64_t file_bytes, OpsetScopes& opsets) {
  if (model.functions_size() == 0) return {};
  LOWTIDE_TRY(FunctionTable functions, FunctionTable::make(model));
  LOWTIDE_RETURN_IF_ERROR(check_call_costs(model, functions, file_bytes));
  LOWTIDE_RETURN_IF_ERROR(Inliner(functions, model.graph(), file_bytes, opsets).run(*model.mutable_graph()));
  model.clear_functions();
  return {};
}

}  // namespace lowtide::import_internal
