// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/base/article.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/text_parse.h"

namespace lowtide::graph_internal {

// Checks that each captured tensor of the body stands for exactly one tensor of this graph.
bool GraphParser::bind_captures(const Graph& graph, const GraphParser& body, NodeLine& line) {
  std::vector<std::pair<NameUse, TensorId>>& bound = line.captures.emplace_back();
  Flags<TensorId> is_bound(graph.tensors().size());
  for (const auto& [inner, outer] : body.captures_) {
    const auto declared = body.declared_.find(inner.name);
    const char* fault = nullptr;
    if (declared == body.declared_.end()) {
      fault = " is not declared in graph ";
    } else if (!declared->second.is_captured) {
      fault = " is not declared as 'captured' in graph ";
    } else if (is_bound.test(declared->second.id)) {
      fault = " is captured twice by graph ";
    }
    if (fault != nullptr) {
      return reader_.fail(ErrorCode::invalid, inner.at,
                          quoted(inner.name) + fault + quoted(graph.name()) +
                              "; 'captures' lists each captured tensor of the body once");
    }
    is_bound.set(declared->second.id);
    bound.emplace_back(outer, declared->second.id);
  }
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const std::string& name = graph.tensor(id).name;
    if (graph.tensor(id).is_captured && !is_bound.test(id)) {
      return reader_.fail(ErrorCode::invalid, body.declared_.at(name).at,
                          "the captured tensor " + quoted(name) + " of graph " + quoted(graph.name()) +
                              " is not listed after 'captures'; list the tensor that it stands for");
    }
  }
  return true;
}

bool GraphParser::look_up(const NameUse& use, TensorId& out) {
  const auto found = declared_.find(use.name);
  if (found == declared_.end()) {
    return reader_.fail(ErrorCode::invalid, use.at,
                        "no tensor of graph " + quoted(name_) + " is named " + quoted(use.name) +
                            "; declare it as an input or constant, or let a node produce it");
  }
  out = found->second.id;
  return true;
}

bool GraphParser::look_up(const std::vector<std::optional<NameUse>>& uses, std::vector<std::optional<TensorId>>& out) {
  out.reserve(uses.size());
  for (const std::optional<NameUse>& use : uses) {
    out.emplace_back(std::nullopt);
    if (use && !look_up(*use, out.back().emplace())) return false;
  }
  return true;
}

bool GraphParser::look_up_control_inputs(NodeLine& line) {
  for (const ControlInput& input : line.control_inputs) {
    if (input.node) {
      if (*input.node < 0 || *input.node >= static_cast<std::int64_t>(nodes_.size())) {
        return reader_.fail(ErrorCode::invalid, input.tensor.at,
                            "node " + std::to_string(*input.node) + " does not exist: graph " + quoted(name_) +
                                " has " + with_count(static_cast<std::int64_t>(nodes_.size()), "node") +
                                ", counted from 0");
      }
      line.spec.control_inputs.emplace_back(static_cast<std::uint32_t>(*input.node));
      continue;
    }
    TensorId tensor;
    if (!look_up(input.tensor, tensor)) return false;
    const std::optional<std::size_t> producer = declared_.at(input.tensor.name).producer;
    if (!producer) {
      return reader_.fail(ErrorCode::invalid, input.tensor.at,
                          "no node produces " + quoted(input.tensor.name) + ", so nothing can run after its producer");
    }
    line.spec.control_inputs.emplace_back(static_cast<std::uint32_t>(*producer));
  }
  return true;
}

bool GraphParser::add_nodes() {
  for (NodeLine& line : nodes_) {
    if (!look_up(line.inputs, line.spec.inputs) || !look_up(line.outputs, line.spec.outputs)) return false;
    if (!look_up_control_inputs(line)) return false;
    for (std::size_t at = 0; at < line.captures.size(); ++at) {
      Body& body = line.spec.bodies[at];
      for (const auto& [outer, inner] : line.captures[at]) {
        if (!look_up(outer, body.captures.emplace_back(TensorId(), inner).first)) return false;
      }
      std::sort(body.captures.begin(), body.captures.end());
    }
  }
  for (NodeLine& line : nodes_) builder_->add_node(std::move(line.spec));
  std::vector<TensorId> outputs(outputs_.size());
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    if (!look_up(outputs_[at], outputs[at])) return false;
  }
  builder_->set_outputs(std::move(outputs));
  return true;
}

bool GraphParser::add_updates() {
  for (const auto& [state_use, next_use] : updates_) {
    TensorId state;
    TensorId next;
    if (!look_up(state_use, state) || !look_up(next_use, next)) return false;
    builder_->add_state_update(state, next);
  }
  return true;
}

}  // namespace lowtide::graph_internal
