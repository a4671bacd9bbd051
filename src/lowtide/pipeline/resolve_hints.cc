// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/resolve_hints.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace lowtide {
namespace {

// What a name of a graph stands for.
struct Named {
  std::optional<NodeId> node;
  std::int64_t nodes = 0;   // with this name
  bool is_outside = false;  // a tensor that no node makes
};

std::map<std::string_view, Named> names_of(const Graph& graph) {
  std::map<std::string_view, Named> names;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (graph.node(id).name.empty()) continue;
    Named& named = names[graph.node(id).name];
    named.node = id;
    ++named.nodes;
  }
  // The name of a tensor counts if no node has it, or if its own node has it.
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.name.empty()) continue;
    const auto found = names.find(tensor.name);
    if (found != names.end() && found->second.nodes > 0) continue;
    names[tensor.name] = {.node = tensor.producer, .is_outside = !tensor.producer};
  }
  return names;
}

std::int64_t uses_of(const Graph& graph, NodeId id) {
  std::int64_t uses = 0;
  for (const std::optional<TensorId>& output : graph.node(id).outputs) {
    if (!output) continue;
    uses += static_cast<std::int64_t>(graph.readers(*output).size()) + (graph.is_needed_at_end(*output) ? 1 : 0);
  }
  return uses;
}

// Why a node cannot run again; empty if it can.
std::string why_not_again(const Graph& graph, NodeId id, bool is_plain) {
  if (!is_plain) {
    const OperatorTraits& traits = graph.op(id).traits;
    if (!traits.is_known) return "its operator is unknown, so a second run might give another result";
    if (traits.is_random) return "its results are random, so a second run gives others";
    if (traits.is_stateful || !traits.is_pure) return "its operator has effects, so it runs once";
    if (!graph.node(id).bodies.empty()) return "it has a body, and nodes with bodies run once";
    if (traits.view != ViewKind::none) return "it is a view of what it reads, and takes no bytes of its own";
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output && graph.tensor(*output).is_next_state) return "it writes into memory of the caller, so it runs once";
    }
  }
  if (uses_of(graph, id) < 2) return "its result has only one reader, so a second run would have none";
  return "";
}

class Resolver {
 public:
  Resolver(const Graph& graph, const HintOptions& options) : graph_(graph), options_(options), names_(names_of(graph)) {
    if (options.written != nullptr) written_ = names_of(*options.written);
  }

  void add(const HintRequest& request) {
    std::string reason = try_add(request);
    if (!reason.empty()) resolved_.refused.push_back({request, std::move(reason)});
  }
  ResolvedHints take() && { return std::move(resolved_); }

 private:
  std::string try_add(const HintRequest& request) {
    const auto found = names_.find(request.name);
    if (found == names_.end()) {
      return written_.contains(request.name)
                 ? "lowering left it out or made it a part of another node; 'lowtide inspect --operators' with the "
                   "same options lists the nodes that run"
                 : "no node or tensor has this name";
    }
    const Named& named = found->second;
    if (named.is_outside) return "no node makes this tensor, because the caller or the model holds it";
    if (named.nodes > 1) return std::to_string(named.nodes) + " nodes have this name; use the name of a result";
    if (const auto earlier = kinds_.find(*named.node); earlier != kinds_.end()) {
      return earlier->second == request.kind
                 ? "an earlier hint for the same node says the same"
                 : "an earlier hint for the same node says " + std::string(to_string(earlier->second));
    }
    std::string reason;
    if (request.kind == HintKind::swap && !options_.has_link) {
      reason = "there is no link; add --link";
    }
    if (request.kind == HintKind::recompute) {
      reason = options_.has_link && options_.is_plain ? "with a link, the search chooses between a run and a transfer; "
                                                        "omit --link or this hint"
                                                      : why_not_again(graph_, *named.node, options_.is_plain);
    }
    if (!reason.empty()) return reason;
    kinds_.emplace(*named.node, request.kind);
    resolved_.accepted.push_back({*named.node, request.kind});
    resolved_.names.push_back(request.name);
    return "";
  }

  const Graph& graph_;
  const HintOptions& options_;
  std::map<std::string_view, Named> names_;
  std::map<std::string_view, Named> written_;
  std::map<NodeId, HintKind> kinds_;  // of accepted hints
  ResolvedHints resolved_;
};

}  // namespace

ResolvedHints resolve_hints(const Graph& graph, const std::vector<HintRequest>& requests, const HintOptions& options) {
  Resolver resolver(graph, options);
  for (const HintRequest& request : requests) resolver.add(request);
  return std::move(resolver).take();
}

}  // namespace lowtide
