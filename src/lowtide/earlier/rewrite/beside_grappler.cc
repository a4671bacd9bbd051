// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/beside_grappler.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/rewrite/grappler_shortfalls.h"

namespace lowtide {
namespace {

// A plan for another memory of the planned device.
Result<LeanGraphDef> plan_for(const ProtoMessage& graphdef, LeanGraphDefOptions options, std::uint32_t device,
                              std::int64_t memory, std::int64_t parts) {
  options.cluster.devices[device].memory_bytes = memory;
  if (options.effort) options.effort = *options.effort / parts;
  return lean_graphdef(graphdef, options);
}

LeanPoint point_of(const LeanGraphDef& lean, std::int64_t memory) {
  LeanPoint point{.memory_bytes = memory, .answer = lean.answer};
  for (const auto& [node, times] : lean.recomputed) point.reruns += times;
  point.swaps = static_cast<std::int64_t>(lean.swaps.size());
  return point;
}

// A sequence for less memory is also one for more, and a bound for more memory is also one for less.
void share_points(std::vector<LeanPoint>& curve) {
  for (std::size_t at = 1; at < curve.size(); ++at) {
    curve[at].answer.cost_bound = std::max(curve[at].answer.cost_bound, curve[at - 1].answer.cost_bound);
  }
  for (std::size_t at = curve.size(); at-- > 1;) {
    LeanPoint& larger = curve[at - 1];
    if (larger.answer.cost <= curve[at].answer.cost) continue;
    larger.answer.cost = curve[at].answer.cost;
    larger.reruns = curve[at].reruns;
    larger.swaps = curve[at].swaps;
  }
}

// Fills the curve of `beside`. Requires: its plan is there.
Result<void> draw_curve(const ProtoMessage& graphdef, const BesideGrapplerOptions& options, BesideGrappler& beside) {
  const LeanGraphDef& planned = beside.lean;
  std::vector<LeanPoint>& curve = beside.curve;
  if (options.points < 1 || !planned.unsized.empty()) return {};
  LOWTIDE_TRY(LeanGraphDef widest, plan_for(graphdef, options.lean, planned.device, 0, options.points));
  const std::int64_t most = widest.peak.count();
  const std::int64_t least = widest.resident.count();
  curve.push_back(point_of(widest, most));
  for (std::int64_t step = 1; step < options.points; ++step) {
    const std::int64_t memory = most - (most - least) / options.points * step;
    if (memory <= least || memory >= curve.back().memory_bytes) break;
    LOWTIDE_TRY(const LeanGraphDef plan, plan_for(graphdef, options.lean, planned.device, memory, options.points));
    if (plan.answer.outcome != BudgetOutcome::found) {
      beside.missed = point_of(plan, memory);
      break;
    }
    curve.push_back(point_of(plan, memory));
  }
  share_points(curve);
  return {};
}

}  // namespace

Result<BesideGrappler> plan_beside_grappler(const ProtoMessage& graphdef, LeanGraphDef planned,
                                            const BesideGrapplerOptions& options) {
  const LeanGraphDefOptions& lean = options.lean;
  LOWTIDE_TRY(const std::vector<DefNode> nodes, with_shapes(nodes_of_graphdef(graphdef), lean.shapes));
  BesideGrappler beside;
  beside.lean = std::move(planned);
  LOWTIDE_TRY(GrapplerResult rewritten, run_grappler(with_nodes(graphdef, nodes), {.level = options.level,
                                                                                   .target_scope = options.target_scope,
                                                                                   .feeds = lean.ends.feeds,
                                                                                   .fetches = lean.ends.fetches,
                                                                                   .cluster = lean.cluster}));
  beside.grappler = std::move(rewritten);
  LOWTIDE_TRY(const std::vector<DefNode> leaned, with_shapes(nodes_of_graphdef(beside.lean.graphdef), lean.shapes));
  const TimedRunOptions clock{.cluster = lean.cluster,
                              .ends = lean.ends,
                              .link = lean.link.value_or(kLinkOfGrappler),
                              .device = beside.lean.device};
  for (const auto& [list, run] :
       {std::pair(nodes, &beside.given), std::pair(nodes_of_graphdef(beside.grappler.graphdef), &beside.grappler_run),
        std::pair(leaned, &beside.lean_run)}) {
    LOWTIDE_TRY(TimedRun timed, time_run(list, clock));
    *run = std::move(timed);
  }
  if (const Result<void> drawn = draw_curve(graphdef, options, beside); !drawn) return drawn.error();
  LOWTIDE_TRY(const std::vector<GrapplerShortfall> found, rewrite_internal::find_shortfalls(nodes, beside, clock));
  beside.shortfalls = found;
  return beside;
}

}  // namespace lowtide
