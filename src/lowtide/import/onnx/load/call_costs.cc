// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/call_costs.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {
namespace {

using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::NodeProto;

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();

std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return checked_add(a, b).value_or(kFar); }

std::string identity(const std::string& domain, const std::string& name, const std::string& overload) {
  // The lengths distinguish "a" + "bc" from "ab" + "c".
  const std::string normal = normalized_domain(domain);
  return std::to_string(normal.size()) + ":" + std::to_string(name.size()) + ":" + normal + name + overload;
}

std::string shown(const FunctionProto& function) { return "function " + quoted(function.name()); }

struct Call {
  const FunctionProto* callee;
  std::int64_t nesting;  // number of bodies around the call in the caller
};

// The cost of one graph or function with its bodies, but without the functions that it calls.
struct OwnCost {
  std::int64_t nodes = 0;
  std::int64_t bytes = 0;
  std::int64_t nesting = 0;
  std::vector<Call> calls;
};

// The cost after all calls are inlined.
struct FullCost {
  std::int64_t nodes = 0;
  std::int64_t bytes = 0;
  std::int64_t nesting = 0;
  std::int64_t call_depth = 0;
};

using NodeField = google::protobuf::RepeatedPtrField<NodeProto>;

// Recurses over bodies only; read_skeleton has limited their nesting.
void add_own_cost(const NodeField& nodes, std::int64_t nesting, const FunctionTable& functions, OwnCost& cost) {
  cost.nesting = std::max(cost.nesting, nesting);
  for (const NodeProto& node : nodes) {
    if (const FunctionProto* callee = functions.callee(node)) {
      cost.calls.push_back({callee, nesting});
    } else {
      ++cost.nodes;
    }
    if (nesting == 0) cost.bytes += static_cast<std::int64_t>(node.ByteSizeLong());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) add_own_cost(attribute.g().node(), nesting + 1, functions, cost);
      for (const GraphProto& graph : attribute.graphs()) add_own_cost(graph.node(), nesting + 1, functions, cost);
    }
  }
}

class CostCounter {
 public:
  explicit CostCounter(const FunctionTable& functions) : functions_(functions) {}

  // Depth-first search with an explicit stack. Counts callees before their callers.
  Result<void> count(const FunctionProto& root) {
    if (states_.contains(&root)) return {};
    enter(root);
    while (!open_.empty()) {
      State& state = states_[open_.back()];
      if (state.next == state.own.calls.size()) {
        state.full = total(state.own);
        open_.pop_back();
        continue;
      }
      const FunctionProto* callee = state.own.calls[state.next++].callee;
      const auto known = states_.find(callee);
      if (known == states_.end()) {
        enter(*callee);
      } else if (!known->second.full) {
        return recursion(*callee);
      }
    }
    return {};
  }

  // Requires: every callee is counted.
  [[nodiscard]] FullCost total(const OwnCost& own) const {
    FullCost full = {own.nodes, own.bytes, own.nesting, 0};
    for (const Call& call : own.calls) {
      const FullCost& callee = *states_.at(call.callee).full;
      full.nodes = saturating_add(full.nodes, callee.nodes);
      full.bytes = saturating_add(full.bytes, callee.bytes);
      full.nesting = std::max(full.nesting, saturating_add(call.nesting, callee.nesting));
      full.call_depth = std::max(full.call_depth, callee.call_depth + 1);
    }
    return full;
  }

 private:
  struct State {
    OwnCost own;
    std::size_t next = 0;          // the call to visit next
    std::optional<FullCost> full;  // nullopt while the function is on the stack
  };

  void enter(const FunctionProto& function) {
    add_own_cost(function.node(), 0, functions_, states_[&function].own);
    open_.push_back(&function);
  }

  [[nodiscard]] Error recursion(const FunctionProto& callee) const {
    constexpr std::size_t kMostShown = 8;
    std::string path;
    std::size_t count = 0;
    for (auto at = std::find(open_.begin(), open_.end(), &callee); at != open_.end(); ++at) {
      if (count++ < kMostShown) path += quoted((*at)->name()) + " calls ";
    }
    if (count > kMostShown) path += "... calls ";
    return Error{ErrorCode::invalid, "the function calls itself, which is not allowed: " + path + quoted(callee.name()),
                 shown(callee)};
  }

  const FunctionTable& functions_;
  std::unordered_map<const FunctionProto*, State> states_;
  std::vector<const FunctionProto*> open_;
};

Result<void> check_full_cost(const FullCost& cost, std::int64_t node_budget, std::int64_t byte_budget) {
  const auto refuse = [](const std::string& what, std::int64_t limit, const std::string& name) {
    return Error{
        ErrorCode::over_limit,
        "inlining the functions would give " + what + "; the limit is " + std::to_string(limit) + " (" + name + ")",
        "model"};
  };
  const auto shown_count = [](std::int64_t count) {
    return count == kFar ? std::string("2^63 or more") : std::to_string(count);
  };
  if (cost.nodes > node_budget) {
    return refuse(shown_count(cost.nodes) + " nodes", node_budget, "inlined_node_budget");
  }
  if (cost.bytes > byte_budget) {
    return refuse(shown_count(cost.bytes) + " bytes of nodes", byte_budget, "inlined_byte_budget");
  }
  if (cost.call_depth > limits::kMaxCallDepth) {
    return refuse("a call depth of " + std::to_string(cost.call_depth), limits::kMaxCallDepth, "kMaxCallDepth");
  }
  if (cost.nesting > limits::kMaxBodyNesting) {
    return refuse("graphs nested to a depth of " + std::to_string(cost.nesting), limits::kMaxBodyNesting,
                  "kMaxBodyNesting");
  }
  return {};
}

}  // namespace

Result<FunctionTable> FunctionTable::make(const onnx::ModelProto& model) {
  FunctionTable table;
  for (const FunctionProto& function : model.functions()) {
    const auto [entry, is_new] =
        table.index_.try_emplace(identity(function.domain(), function.name(), function.overload()), &function);
    if (!is_new) {
      return Error{ErrorCode::invalid, "two functions have the same domain, name and overload", shown(function)};
    }
  }
  return table;
}

const FunctionProto* FunctionTable::callee(const NodeProto& node) const {
  if (index_.empty()) return nullptr;
  const auto found = index_.find(identity(node.domain(), node.op_type(), node.overload()));
  return found == index_.end() ? nullptr : found->second;
}

std::int64_t inlined_node_budget(std::int64_t nodes_in_file) {
  return std::min(limits::kMaxNodes, 65'536 + 64 * nodes_in_file);
}

std::int64_t inlined_byte_budget(std::int64_t file_bytes) { return (std::int64_t{16} << 20) + 4 * file_bytes; }

Result<void> check_call_costs(const onnx::ModelProto& model, const FunctionTable& functions, std::int64_t file_bytes) {
  CostCounter counter(functions);
  std::int64_t nodes_in_file = 0;
  for (const FunctionProto& function : model.functions()) {
    LOWTIDE_RETURN_IF_ERROR(counter.count(function));
    nodes_in_file += function.node_size();
  }
  OwnCost main;
  add_own_cost(model.graph().node(), 0, functions, main);
  nodes_in_file += main.nodes + static_cast<std::int64_t>(main.calls.size());
  return check_full_cost(counter.total(main), inlined_node_budget(nodes_in_file), inlined_byte_budget(file_bytes));
}

}  // namespace lowtide::import_internal
