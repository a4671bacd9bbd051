// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/remarks.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "lowtide/earlier/grappler/device_name.h"
#include "lowtide/earlier/grappler/swap_choice.h"
#include "lowtide/earlier/grappler/variable_uses.h"

namespace lowtide::grappler_internal {
namespace {

constexpr std::string_view kRecomputeHint = "_recompute_hint";

// Kernels with one seed draw the same numbers, if each runs once in a run of the graph.
bool has_seed(const DefNode& node) {
  for (const char* key : {"seed", "seed2"}) {
    const std::vector<std::int64_t> seed = attribute_integers(node, key);
    if (!seed.empty() && seed.front() != 0) return true;
  }
  return false;
}

class Remarks {
 public:
  Remarks(const std::vector<DefNode>& nodes, const Surroundings& around, const PassChoice& passes,
          GrapplerResult& result)
      : nodes_(nodes),
        around_(around),
        passes_(passes),
        result_(result),
        recomputed_(result.recomputed.begin(), result.recomputed.end()) {
    for (const std::string& feed : around.feeds) fed_.emplace(read_input(feed).node);
    for (const GrapplerSwap& one : result.swaps) swapped_.emplace(one.node, one.input);
  }

  void add_hints(const NodeLinks& links) {
    for (NodeIndex at = 0; at < nodes_.size(); ++at) {
      if (has_attribute(nodes_[at], kRecomputeHint)) add_recompute_hint(links, at);
      if (has_swap_hint(nodes_[at])) add_swap_hint(nodes_[at]);
    }
  }

  void add_warnings(const TypedGraph& graph) {
    const VariableUses uses = find_variable_uses(graph);
    for (NodeIndex at = 0; at < nodes_.size(); ++at) {
      if (!recomputed_.contains(nodes_[at].name)) continue;
      if (!is_pure_operator(nodes_[at].op) && !has_seed(nodes_[at])) {
        warn(at,
             "runs again and may give other results then: " + quoted(nodes_[at].op, 60) +
                 " does not repeat its results" +
                 (has_attribute(nodes_[at], "seed") || has_attribute(nodes_[at], "seed2") ? " without a seed" : ""));
      } else if (const std::optional<NodeIndex> variable = written_variable(graph, uses, at)) {
        warn(at, "runs again and reads the variable " + quoted(nodes_[*variable].name, 60) +
                     ", which a node writes, so it may read another content then");
      }
    }
  }

 private:
  void warn(NodeIndex at, std::string text) { result_.warnings.push_back({nodes_[at].name, std::move(text)}); }
  void leave_out(const DefNode& node, std::string text) { result_.left_out.push_back({node.name, std::move(text)}); }

  [[nodiscard]] static std::optional<NodeIndex> written_variable(const TypedGraph& graph, const VariableUses& uses,
                                                                 NodeIndex at) {
    for (std::size_t input = 0; input < graph.nodes[at].inputs.size(); ++input) {
      if (read_input(graph.nodes[at].inputs[input]).is_control) continue;
      const std::optional<NodeIndex> variable = uses.variable_of[graph.links.inputs[at][input]];
      if (variable && uses.is_written[*variable]) return variable;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_target(const DefNode& node) const {
    return node.name.starts_with(passes_.target_scope) ||
           node.name.find("/" + passes_.target_scope) != std::string::npos;
  }

  void add_recompute_hint(const NodeLinks& links, NodeIndex at) {
    const DefNode& node = nodes_[at];
    result_.has_hints = true;
    if (recomputed_.contains(node.name)) return;
    const std::string hint = "has " + std::string(kRecomputeHint) + ", but ";
    const std::string scope = quoted(passes_.target_scope, 60);
    const auto is_target_at = [&](NodeIndex one) { return is_target(nodes_[one]); };
    if (!passes_.recomputes) {
      leave_out(node, hint + "this level runs nothing again");
    } else if (fed_.contains(node.name)) {
      leave_out(node, hint + "is fed");
    } else if (is_target(node)) {
      leave_out(node, hint + "is itself in the scope " + scope + ", whose nodes read recomputed results");
    } else if (std::ranges::none_of(links.readers[at], is_target_at)) {
      leave_out(node, hint + "no node in the scope " + scope + " reads it, or what runs again and needs it");
    } else {
      leave_out(node, hint + "it reads a node in the scope " + scope + ", which would have to run before");
    }
  }

  void add_swap_hint(const DefNode& node) {
    result_.has_hints = true;
    for (std::int64_t input : attribute_integers(node, "_swap_to_host")) {
      if (swapped_.contains({node.name, input})) continue;
      const std::string hint = "asks for a swap of input " + std::to_string(input) + ", but ";
      if (!passes_.swaps) {
        leave_out(node, hint + "this level swaps nothing");
      } else if (around_.fetches.empty() || around_.cluster.devices.empty()) {
        leave_out(node, hint + "swaps need --cluster and --fetch");
      } else if (device_parts(node.device).kind.find("GPU") == std::string::npos) {
        leave_out(node, hint + "is not placed on a GPU");
      } else {
        leave_out(node, hint +
                            "no node above it ends before the copy back would have to begin, no other node reads the "
                            "input, or the input is a reference");
      }
    }
  }

  const std::vector<DefNode>& nodes_;
  const Surroundings& around_;
  const PassChoice& passes_;
  GrapplerResult& result_;
  std::set<std::string> recomputed_;
  std::set<std::string, std::less<>> fed_;
  std::set<std::pair<std::string, std::int64_t>> swapped_;
};

}  // namespace

Result<void> add_remarks(const std::vector<DefNode>& nodes, const Surroundings& around, const PassChoice& passes,
                         GrapplerResult& result) {
  Remarks remarks(nodes, around, passes, result);
  LOWTIDE_TRY(const NodeLinks links, link_nodes(nodes));
  remarks.add_hints(links);
  if (result.recomputed.empty()) return {};
  LOWTIDE_TRY(const TypedGraph graph, type_nodes(nodes));
  remarks.add_warnings(graph);
  return {};
}

}  // namespace lowtide::grappler_internal
