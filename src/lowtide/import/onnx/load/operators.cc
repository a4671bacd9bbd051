// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/operators.h"

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using onnx::OpSchema;

// Whether the formal input or output accepts no dense tensor of numbers.
bool excludes_tensors(const OpSchema::FormalParameter& parameter) {
  const auto& types = parameter.GetTypes();
  return !types.empty() && std::none_of(types.begin(), types.end(), [](const std::string* type) {
    return type->rfind("tensor(", 0) == 0 && *type != "tensor(string)";
  });
}

// Why an operator whose operands are no tensors of numbers is refused, with a way out where there is one.
std::string why_excluded(const NodeProto& node) {
  if (node.domain() == "ai.onnx.ml" && node.op_type() == "ZipMap") {
    return "it makes maps, and Lowtide has tensors; convert the model without it, with options={'zipmap': False} of "
           "skl2onnx or zipmap=False of onnxmltools";
  }
  if (node.domain() == "ai.onnx.ml" && (node.op_type() == "CastMap" || node.op_type() == "DictVectorizer")) {
    return "it reads maps, and Lowtide has tensors; convert the steps behind it, and give them a matrix of features";
  }
  return "it works on sequences, maps, optionals or strings";
}

struct Definition {
  const OpSchema* schema = nullptr;
  std::string reason;  // why it is not supported; empty if it is
};

struct Unsupported {
  std::string reason;
  std::int64_t nodes = 0;
  std::string first;  // the place of the first node
};

class OperatorCheck {
 public:
  explicit OperatorCheck(const OpsetScopes& opsets) : opsets_(opsets) {}

  // Recurses over bodies, whose nesting is limited.
  void check(const GraphProto& graph, const std::string& around) {
    const std::string prefix = around.empty() ? "" : around + ": ";
    for (int at = 0; at < graph.node_size(); ++at) {
      const NodeProto& node = graph.node(at);
      const Definition& definition = find(node);
      const auto place = [&] { return prefix + place_of_node(graph.name(), static_cast<std::size_t>(at), node); };
      if (!definition.reason.empty()) {
        Unsupported& entry = unsupported_[operator_name(node)];
        if (entry.nodes++ == 0) entry = {definition.reason, 1, place()};
      } else if (!first_error_) {
        if (std::optional<Error> error = verify(node, definition.schema)) {
          error->place = place();
          first_error_ = std::move(error);
        }
      }
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) check(attribute.g(), place());
        for (const GraphProto& body : attribute.graphs()) check(body, place());
      }
    }
  }

  Result<void> outcome() const {
    if (!unsupported_.empty()) return list_unsupported();
    if (first_error_) return *first_error_;
    return {};
  }

 private:
  const Definition& find(const NodeProto& node) {
    const std::size_t opset = opsets_.index_of(node);
    key_.assign(node.op_type());
    key_ += '\0';
    key_ += node.domain();
    key_ += '\0';
    key_ += node.overload();
    key_ += '\0';
    key_ += std::to_string(opset);
    const auto [entry, is_new] = definitions_.try_emplace(key_);
    if (is_new) entry->second = look_up(node);
    return entry->second;
  }

  Definition look_up(const NodeProto& node) const {
    const std::string domain = normalized_domain(node.domain());
    const OpsetImports& imports = opsets_.of(node);
    const auto version = imports.find(domain);
    if (version == imports.end()) return {nullptr, "the model imports no opset of its domain"};
    if (!node.overload().empty()) return {nullptr, "the model has no function with this name and overload"};
    const OpSchema* schema = find_schema(node.op_type(), version->second, domain);
    if (schema == nullptr && is_foreign_domain(domain)) return {nullptr, ""};
    if (schema == nullptr) {
      return {nullptr, why_unknown(node.op_type(), version->second, domain)};
    }
    const auto works_on_others = [](const OpSchema::FormalParameter& parameter) {
      return parameter.GetOption() != OpSchema::Optional && excludes_tensors(parameter);
    };
    if (std::any_of(schema->inputs().begin(), schema->inputs().end(), works_on_others) ||
        std::any_of(schema->outputs().begin(), schema->outputs().end(), works_on_others)) {
      return {schema, why_excluded(node)};
    }
    return {schema, ""};
  }

  // `schema`: nullptr for an operator of another system.
  static std::optional<Error> verify(const NodeProto& node, const OpSchema* schema) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (!attribute.ref_attr_name().empty()) {
        return Error{ErrorCode::invalid,
                     "attribute " + quoted(attribute.name()) +
                         " refers to an attribute of a function, but the node is not in a function",
                     ""};
      }
    }
    if (schema == nullptr) return std::nullopt;
    try {
      schema->Verify(node);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return Error{ErrorCode::invalid, plain_text(error.what()), ""};
    }
    return std::nullopt;
  }

  [[nodiscard]] Error list_unsupported() const {
    constexpr std::size_t kMostShown = 100;
    std::string message = std::to_string(unsupported_.size()) +
                          (unsupported_.size() == 1 ? " operator is not supported:" : " operators are not supported:");
    std::size_t shown = 0;
    for (const auto& [name, entry] : unsupported_) {
      if (++shown > kMostShown) {
        message += "\n  and " + std::to_string(unsupported_.size() - kMostShown) + " more";
        break;
      }
      message += "\n  " + name + ": " + entry.reason + " (" + std::to_string(entry.nodes) +
                 (entry.nodes == 1 ? " node, " : " nodes, the first is ") + entry.first + ")";
    }
    return Error{ErrorCode::unsupported, message, ""};
  }

  const OpsetScopes& opsets_;
  std::string key_;
  std::unordered_map<std::string, Definition> definitions_;
  std::map<std::string, Unsupported> unsupported_;  // sorted by name
  std::optional<Error> first_error_;
};

}  // namespace

Result<void> check_operators(const onnx::GraphProto& graph, const OpsetScopes& opsets) {
  OperatorCheck check(opsets);
  check.check(graph, "");
  return check.outcome();
}

}  // namespace lowtide::import_internal
