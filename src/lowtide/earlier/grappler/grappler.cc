// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/grappler.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/device_name.h"
#include "lowtide/earlier/grappler/recompute.h"
#include "lowtide/earlier/grappler/relax.h"
#include "lowtide/earlier/grappler/remarks.h"
#include "lowtide/earlier/grappler/repeated_controls.h"
#include "lowtide/earlier/grappler/run_costs.h"
#include "lowtide/earlier/grappler/simulate.h"
#include "lowtide/earlier/grappler/sums.h"
#include "lowtide/earlier/grappler/swaps.h"

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

Result<void> check_no_swap_hint(const std::vector<DefNode>& nodes) {
  for (const DefNode& node : nodes) {
    if (has_attribute(node, kSwapHint) && grappler_internal::device_parts(node.device).kind == "GPU") {
      return Error{ErrorCode::unsupported,
                   "its attribute " + std::string(kSwapHint) +
                       " asks for a swap, which needs a cluster: the devices, with their memory and speed",
                   shown_node(node.name, node.op)};
    }
  }
  return {};
}

Result<void> recompute(std::vector<DefNode>& nodes, const GrapplerOptions& options,
                       const std::vector<std::string>& feeds, GrapplerResult& result) {
  const std::set<std::string> fed(feeds.begin(), feeds.end());
  const bool takes_cheap = options.level != GrapplerLevel::manual;
  const auto is_recomputed = [&](const DefNode& node) {
    const bool is_cheap = takes_cheap && is_cheap_for_grappler(node.op);
    return (is_cheap || has_attribute(node, kRecomputeHint)) && !fed.contains(node.name);
  };
  const std::string scope(options.target_scope.empty() ? kDefaultScope : options.target_scope);
  LOWTIDE_TRY(grappler_internal::RecomputedNodes done,
              grappler_internal::recompute_groups(nodes, {.target_scope = scope, .is_recomputed = is_recomputed}));
  result.recomputed = std::move(done.names);
  result.groups = done.groups;
  return {};
}

bool chooses_swaps(GrapplerLevel level) { return has_swaps(level) && level != GrapplerLevel::manual; }

using grappler_internal::Simulation;
using grappler_internal::Surroundings;

Result<Simulation> simulated(const std::vector<DefNode>& nodes, const Surroundings& around) {
  LOWTIDE_TRY(const auto graph, grappler_internal::type_nodes(nodes));
  return grappler_internal::simulate(graph, around.cluster, around.feeds, around.fetches);
}

Result<void> save_memory(std::vector<DefNode>& nodes, const Surroundings& around, GrapplerLevel level,
                         GrapplerResult& result) {
  constexpr int kMostRounds = 25;
  grappler_internal::SkipList skipped;
  grappler_internal::KnownPeaks peaks;
  bool is_changed = true;
  for (int round = 0; round < kMostRounds && is_changed; ++round) {
    is_changed = false;
    if (has_add_n(level)) {
      LOWTIDE_TRY(std::vector<std::string> sums,
                  grappler_internal::replace_sums(nodes, around, peaks, result.left_out));
      is_changed = !sums.empty();
      std::ranges::move(sums, std::back_inserter(result.sums));
    }
    if (!has_swaps(level)) continue;
    LOWTIDE_TRY(std::vector<GrapplerSwap> swaps,
                grappler_internal::swap_inputs(nodes, around, chooses_swaps(level), skipped, peaks));
    std::ranges::move(swaps, std::back_inserter(result.swaps));
  }
  return {};
}

void compare_peaks(const Cluster& cluster, const Simulation& before, const Simulation& after, GrapplerResult& result) {
  for (std::size_t device = 0; device < cluster.devices.size(); ++device) {
    result.peaks.push_back({.device = cluster.devices[device].name,
                            .memory_bytes = cluster.devices[device].memory_bytes,
                            .before = before.peaks[device].bytes,
                            .after = after.peaks[device].bytes});
  }
  result.nanoseconds_before = before.nanoseconds;
  result.nanoseconds_after = after.nanoseconds;
}

Result<void> rewrite_nodes(std::vector<DefNode>& nodes, const GrapplerOptions& options, const Surroundings& around,
                           GrapplerResult& result) {
  const bool measures = !options.fetches.empty();
  const bool has_cluster = !options.cluster.devices.empty();
  if (measures && !has_cluster && has_swaps(options.level)) LOWTIDE_RETURN_IF_ERROR(check_no_swap_hint(nodes));
  LOWTIDE_TRY(std::vector<std::string> relaxed, grappler_internal::relax_assignments(nodes));
  result.relaxed = std::move(relaxed);
  if (has_recomputation(options.level)) LOWTIDE_RETURN_IF_ERROR(recompute(nodes, options, around.feeds, result));
  if (!measures) return {};
  if (!has_cluster) {
    return has_add_n(options.level) ? grappler_internal::drop_repeated_controls(nodes) : Result<void>();
  }
  return save_memory(nodes, around, options.level, result);
}

}  // namespace

bool is_cheap_for_grappler(std::string_view op) { return std::ranges::binary_search(kCheapOps, op); }

Result<GrapplerResult> run_grappler(const ProtoMessage& graphdef, const GrapplerOptions& options) {
  std::vector<DefNode> nodes = nodes_of_graphdef(graphdef);
  LOWTIDE_TRY(const RunEnds ends, with_placeholders(nodes, {.feeds = options.feeds, .fetches = options.fetches}));
  const Surroundings around{.cluster = options.cluster, .feeds = ends.feeds, .fetches = ends.fetches};
  GrapplerResult result;
  const bool simulates = !options.fetches.empty() && !options.cluster.devices.empty();
  std::optional<Simulation> before;
  if (simulates) {
    LOWTIDE_TRY(Simulation simulation, simulated(nodes, around));
    before = std::move(simulation);
  }
  const std::vector<DefNode> given = nodes;
  if (options.level != GrapplerLevel::none) LOWTIDE_RETURN_IF_ERROR(rewrite_nodes(nodes, options, around, result));
  LOWTIDE_RETURN_IF_ERROR(grappler_internal::add_remarks(
      given, around,
      {.recomputes = has_recomputation(options.level),
       .swaps = has_swaps(options.level),
       .target_scope = std::string(options.target_scope.empty() ? kDefaultScope : options.target_scope)},
      result));
  if (simulates) {
    LOWTIDE_TRY(const Simulation after, simulated(nodes, around));
    compare_peaks(options.cluster, *before, after, result);
  }
  result.graphdef = options.level == GrapplerLevel::none ? graphdef : with_nodes(graphdef, std::move(nodes));
  return result;
}

}  // namespace lowtide
