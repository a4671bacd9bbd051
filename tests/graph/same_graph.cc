// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/same_graph.h"

#include <bit>

namespace lowtide::testing {
namespace {

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }

// NaN equals itself here, and 0.0 does not equal -0.0.
bool same_value(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* real = std::get_if<double>(&a)) return bits(*real) == bits(std::get<double>(b));
  if (const auto* reals = std::get_if<std::vector<double>>(&a)) {
    const auto& others = std::get<std::vector<double>>(b);
    if (reals->size() != others.size()) return false;
    for (std::size_t at = 0; at < others.size(); ++at) {
      if (bits((*reals)[at]) != bits(others[at])) return false;
    }
    return true;
  }
  return a == b;
}

bool same_attributes(const std::vector<Attribute>& a, const std::vector<Attribute>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t at = 0; at < a.size(); ++at) {
    if (a[at].name != b[at].name || !same_value(a[at].value, b[at].value)) return false;
  }
  return true;
}

std::string tensor_difference(const Graph& a, const Graph& b, TensorId id) {
  const Tensor& one = a.tensor(id);
  const Tensor& other = b.tensor(id);
  if (one.name != other.name) return "name";
  if (one.dtype != other.dtype || !(one.shape == other.shape) || one.size != other.size) return "type";
  if (one.role != other.role || one.is_captured != other.is_captured) return "role";
  if (one.is_next_state != other.is_next_state) return "is_next_state";
  if (one.producer != other.producer) return "producer";
  if (one.constant != other.constant) return "constant";
  const auto* known = a.known_integers(id);
  const auto* other_known = b.known_integers(id);
  if ((known == nullptr) != (other_known == nullptr) || (known != nullptr && *known != *other_known)) return "content";
  if (!std::ranges::equal(a.readers(id), b.readers(id))) return "readers";
  return "";
}

std::string node_difference(const Graph& a, const Graph& b, NodeId id) {
  const Node& one = a.node(id);
  const Node& other = b.node(id);
  if (one.name != other.name) return "name";
  if (a.op(id).domain != b.op(id).domain || a.op(id).type != b.op(id).type) return "operator";
  if (one.inputs != other.inputs || one.outputs != other.outputs) return "inputs or outputs";
  if (one.control_inputs != other.control_inputs) return "control inputs";
  if (!same_attributes(one.attributes, other.attributes)) return "attributes";
  if (!std::ranges::equal(a.reads(id), b.reads(id))) return "reads";
  if (one.bodies.size() != other.bodies.size()) return "number of bodies";
  for (std::size_t at = 0; at < one.bodies.size(); ++at) {
    if (one.bodies[at].name != other.bodies[at].name || one.bodies[at].captures != other.bodies[at].captures) {
      return "captures";
    }
    const std::string inside = difference(*one.bodies[at].graph, *other.bodies[at].graph);
    if (!inside.empty()) return "body: " + inside;
  }
  return "";
}

}  // namespace

std::string difference(const Graph& a, const Graph& b) {
  if (a.name() != b.name()) return "name of the graph";
  if (a.tensors().size() != b.tensors().size()) return "number of tensors";
  if (a.nodes().size() != b.nodes().size()) return "number of nodes";
  if (a.inputs() != b.inputs() || a.outputs() != b.outputs()) return "inputs or outputs of the graph";
  if (a.state_updates() != b.state_updates()) return "state updates";
  if (a.total_nodes() != b.total_nodes() || a.total_tensors() != b.total_tensors()) return "totals";
  for (TensorId id : all_ids<TensorId>(a.tensors().size())) {
    const std::string what = tensor_difference(a, b, id);
    if (!what.empty()) return "tensor " + std::to_string(id.value()) + ": " + what;
  }
  for (NodeId id : all_ids<NodeId>(a.nodes().size())) {
    const std::string what = node_difference(a, b, id);
    if (!what.empty()) return "node " + std::to_string(id.value()) + ": " + what;
  }
  return "";
}

}  // namespace lowtide::testing
