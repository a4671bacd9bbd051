// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/def_names.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "lowtide/earlier/graphdef/op_kinds.h"
#include "lowtide/earlier/graphdef/op_rules.h"

namespace lowtide::graphdef_internal {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_letter_or_digit(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

// "com.microsoft" becomes "Com_microsoft".
std::string valid_op_part(std::string_view name) {
  std::string part(name);
  for (char& c : part) c = is_letter_or_digit(c) ? c : '_';
  if (part.empty() || !is_letter(part.front())) return "X" + part;
  if (part.front() >= 'a') part.front() = static_cast<char>(part.front() - 'a' + 'A');
  return part;
}

}  // namespace

std::string valid_node_name(std::string_view name) {
  std::string valid(name);
  for (char& c : valid) {
    if (!is_letter_or_digit(c) && c != '.' && c != '_' && c != '-' && c != '/') c = '_';
  }
  const bool has_valid_front = !valid.empty() && (is_letter_or_digit(valid.front()) || valid.front() == '.');
  return has_valid_front ? valid : "x" + valid;
}

bool is_own_node(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  const Node& node = graph.node(id);
  if (op.domain != "tensorflow" && !op.domain.starts_with("tensorflow.")) return false;
  switch (kind_of_op(op.type)) {
    case NodeKind::ordinary: return !op.type.empty();
    case NodeKind::no_output: return node.outputs.empty();
    case NodeKind::same_state:
      return !node.inputs.empty() && node.inputs.front() && node.outputs.size() == 1 && !node.outputs.front();
    case NodeKind::input:
    case NodeKind::constant:
    case NodeKind::variable:
    case NodeKind::loop: break;
  }
  return false;
}

std::string name_of_def_op(const Operator& op, bool is_own) {
  if (is_own) return op.type;
  return valid_op_part(op.domain.empty() ? "Onnx" : op.domain) + ">" + valid_op_part(op.type);
}

std::string name_of_port(const std::string& node, std::size_t port) {
  return port == 0 ? node : node + ":" + std::to_string(port);
}

std::string wanted_name(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  bool is_named_after_node = !node.name.empty();
  std::optional<TensorId> first;
  for (std::size_t port = 0; port < node.outputs.size(); ++port) {
    if (!node.outputs[port]) continue;
    if (!first) first = node.outputs[port];
    is_named_after_node =
        is_named_after_node && graph.tensor(*node.outputs[port]).name == name_of_port(node.name, port);
  }
  if (is_named_after_node || !first) return node.name.empty() ? graph.op(id).type : node.name;
  return graph.tensor(*first).name;
}

}  // namespace lowtide::graphdef_internal
