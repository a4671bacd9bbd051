// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/grappler/grappler.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/graphdef/node_list.h"
#include "lowtide/grappler/device_name.h"
#include "lowtide/grappler/recompute.h"
#include "lowtide/grappler/relax.h"
#include "lowtide/grappler/repeated_controls.h"

namespace lowtide {
namespace {

constexpr std::string_view kDefaultScope = "gradients/";
constexpr std::string_view kRecomputeHint = "_recompute_hint";
constexpr std::string_view kSwapHint = "_swap_to_host";

// In order.
constexpr auto kCheapOps = std::to_array<std::string_view>(
    {"Add",  "AddN",   "BiasAdd",           "Cast",       "Fill", "FloorDiv", "FloorMod", "FusedBatchNorm", "LeakyRelu",
     "Mul",  "Neg",    "RealDiv",           "Reciprocal", "Relu", "Relu6",    "Reshape",  "Rsqrt",          "Sigmoid",
     "Sqrt", "Square", "SquaredDifference", "Sub",        "Tile", "Transpose"});

bool has_recomputation(GrapplerLevel level) {
  return level == GrapplerLevel::manual || level == GrapplerLevel::recomputation || level == GrapplerLevel::heuristics;
}

bool has_add_n(GrapplerLevel level) {
  return level == GrapplerLevel::standard || level == GrapplerLevel::scheduling || level == GrapplerLevel::heuristics;
}

bool has_swaps(GrapplerLevel level) {
  return level != GrapplerLevel::none && level != GrapplerLevel::recomputation && level != GrapplerLevel::scheduling;
}

using NodeNames = std::set<std::string, std::less<>>;

// Errors: invalid (a feed or a fetch that does not exist).
Result<void> check_names(const std::vector<DefNode>& nodes, const GrapplerOptions& options) {
  NodeNames names;
  for (const DefNode& node : nodes) names.insert(node.name);
  for (const auto& [list, verb] : {std::pair(&options.feeds, "fed"), std::pair(&options.fetches, "fetched")}) {
    for (const std::string& one : *list) {
      const std::string_view name = read_input(one).node;
      if (names.contains(name)) continue;
      return Error{ErrorCode::invalid, "the graph has no node " + quoted(name, 60) + " that could be " + verb, ""};
    }
  }
  return {};
}

Result<void> check_no_swap_hint(const std::vector<DefNode>& nodes) {
  for (const DefNode& node : nodes) {
    if (has_attribute(node, kSwapHint) && grappler_internal::device_parts(node.device).kind == "GPU") {
      return Error{ErrorCode::unsupported,
                   "its attribute " + std::string(kSwapHint) + " asks for a swap, which needs the time of each node",
                   shown_node(node.name, node.op)};
    }
  }
  return {};
}

NodeNames fed_nodes(const std::vector<DefNode>& nodes, const std::vector<std::string>& feeds) {
  NodeNames fed;
  for (const std::string& feed : feeds) fed.emplace(read_input(feed).node);
  for (const DefNode& node : nodes) {
    if (node.op.starts_with("Placeholder")) fed.insert(node.name);
  }
  return fed;
}

Result<void> recompute(std::vector<DefNode>& nodes, const GrapplerOptions& options, GrapplerResult& result) {
  const NodeNames fed = fed_nodes(nodes, options.feeds);
  const bool takes_cheap = options.level != GrapplerLevel::manual;
  const auto is_recomputed = [&](const DefNode& node) {
    const bool is_cheap = takes_cheap && std::ranges::binary_search(kCheapOps, std::string_view(node.op));
    return (is_cheap || has_attribute(node, kRecomputeHint)) && !fed.contains(node.name);
  };
  const std::string scope(options.target_scope.empty() ? kDefaultScope : options.target_scope);
  Result<grappler_internal::RecomputedNodes> done =
      grappler_internal::recompute_groups(nodes, {.target_scope = scope, .is_recomputed = is_recomputed});
  if (!done) return done.error();
  result.recomputed = std::move(done->names);
  result.groups = done->groups;
  return {};
}

}  // namespace

Result<GrapplerResult> run_grappler(const ProtoMessage& graphdef, const GrapplerOptions& options) {
  std::vector<DefNode> nodes = nodes_of_graphdef(graphdef);
  LOWTIDE_RETURN_IF_ERROR(check_names(nodes, options));
  GrapplerResult result;
  if (options.level == GrapplerLevel::none) {
    result.graphdef = graphdef;
    return result;
  }
  const bool measures = !options.fetches.empty();
  if (measures && has_swaps(options.level)) LOWTIDE_RETURN_IF_ERROR(check_no_swap_hint(nodes));
  Result<std::vector<std::string>> relaxed = grappler_internal::relax_assignments(nodes);
  if (!relaxed) return relaxed.error();
  result.relaxed = *std::move(relaxed);
  if (has_recomputation(options.level)) LOWTIDE_RETURN_IF_ERROR(recompute(nodes, options, result));
  if (measures && has_add_n(options.level)) {
    LOWTIDE_RETURN_IF_ERROR(grappler_internal::drop_repeated_controls(nodes));
  }
  result.graphdef = with_nodes(graphdef, std::move(nodes));
  return result;
}

}  // namespace lowtide
