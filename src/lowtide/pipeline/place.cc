// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lowtide/allocate/regions.h"
#include "lowtide/pipeline/assemble.h"
#include "lowtide/plan/region_packing.h"

namespace lowtide::detail {
namespace {

// A program without steps has one moment, in which everything lives.
TimeSpan time_of(const Plan& plan, const Lifespan& lifespan) {
  if (plan.program.empty()) return {0, 1};
  return {lifespan.begin.value(), lifespan.end.value()};
}

// How often each buffer is read, written or used as scratch in a run.
IdVector<BufferId, std::int64_t> accesses(const Plan& plan) {
  IdVector<BufferId, std::int64_t> count(plan.buffers.size(), 0);
  for (const Step& step : plan.program) {
    if (step.kind == StepKind::alias) continue;
    for (ValueId value : step.reads) ++count[plan.values[value].buffer];
    for (ValueId value : step.writes) ++count[plan.values[value].buffer];
    if (step.scratch) ++count[*step.scratch];
  }
  return count;
}

// The buffers as a packing problem over the regions: in order of preference, what is used most first. The parts of a
// buffer lie one above the other.
RegionProblem problem_of(const Plan& plan, const std::vector<BufferId>& buffers, const std::vector<Region>& regions,
                         Bytes alignment) {
  RegionProblem problem;
  for (const Region& region : regions) {
    problem.regions.push_back({.capacity = region.capacity, .alignment = std::max(alignment, region.alignment)});
  }
  const IdVector<BufferId, std::int64_t> uses = accesses(plan);
  for (BufferId id : buffers) {
    std::optional<PackingId> before;
    for_each_part(plan.buffers[id], [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
      const PackingId part = problem.packing.buffers.push_back({.lifespan = time_of(plan, lifespan),
                                                                .gaps = {},
                                                                .size = Bytes(bytes.end - bytes.begin),
                                                                .alignment = alignment,
                                                                .fixed_offset = std::nullopt});
      problem.uses.push_back({.weight = uses[id], .forbidden = {}});
      if (before) problem.packing.together.push_back({*before, part, problem.packing.buffers[*before].size});
      before = part;
    });
  }
  return problem;
}

}  // namespace

Result<Placed> place(Plan& plan, const AliasClasses& aliases, const std::vector<Region>& regions,
                     const AliasOptions& options, std::int64_t effort,
                     std::optional<std::vector<PackingPair>> conflicts) {
  const std::vector<BufferId> buffers = buffers_with_room(plan, aliases, options);
  RegionProblem problem = problem_of(plan, buffers, regions, options.alignment);
  problem.packing.conflicts = std::move(conflicts);
  const Result<RegionPacking> packed = allocate_regions(problem, {.effort = effort});
  if (!packed) return packed.error();
  plan.regions = regions;
  plan.arena.clear();
  for (const RegionPacking::Fill& fill : packed->fills) plan.arena.push_back(fill.height);
  std::uint32_t at = 0;  // the first part of the next buffer
  for (BufferId id : buffers) {
    Buffer& buffer = plan.buffers[id];
    buffer.placement = packed->placements[PackingId(at)];
    at += static_cast<std::uint32_t>(std::max<std::size_t>(buffer.parts.size(), 1));
  }
  return Placed{.strategy = packed->fills[RegionId(0)].strategy};
}

}  // namespace lowtide::detail
