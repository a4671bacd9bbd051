// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place/assign_offsets.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lowtide/allocate/regions.h"
#include "lowtide/base/try.h"
#include "lowtide/pipeline/place/assemble.h"
#include "lowtide/plan/region_packing.h"

namespace lowtide::pipeline_internal {
namespace {

// A program without steps has one moment, in which all buffers live.
TimeSpan time_of(const Plan& plan, const Lifespan& lifespan) {
  if (plan.program.steps.empty()) return {0, 1};
  return {lifespan.begin.value(), lifespan.end.value()};
}

// How often a run reads or writes each buffer, or uses it as scratch. A kernel reads each value once, even if the value
// is two of its operands.
IdVector<BufferId, std::int64_t> accesses(const Plan& plan) {
  IdVector<BufferId, std::int64_t> count(plan.layout.buffers.size(), 0);
  std::vector<ValueId> reads;
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    const Step& step = plan.program.steps[id];
    if (is_alias(step)) continue;
    reads = step.reads;
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (ValueId value : reads) ++count[plan.layout.values[value].buffer];
    for (ValueId value : step.writes) ++count[plan.layout.values[value].buffer];
    if (const std::optional<BufferId>& scratch = plan.layout.steps[id].scratch) ++count[*scratch];
  }
  return count;
}

// The buffers as a packing problem over the regions. The parts of a buffer are colocated, one above another.
RegionProblem problem_of(const Plan& plan, const std::vector<BufferId>& buffers, const std::vector<RegionId>& regions,
                         Bytes alignment) {
  RegionProblem problem;
  for (RegionId id : regions) {
    const Region& region = plan.machine.regions[id.index()];
    problem.regions.push_back({.capacity = region.capacity, .alignment = std::max(alignment, region.alignment)});
  }
  const IdVector<BufferId, std::int64_t> uses = accesses(plan);
  for (BufferId id : buffers) {
    std::optional<PackingId> before;
    for_each_part(plan.layout.buffers[id], [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
      const PackingId part = problem.packing.buffers.push_back({.lifespan = time_of(plan, lifespan),
                                                                .gaps = {},
                                                                .size = Bytes(bytes.end - bytes.begin),
                                                                .alignment = alignment,
                                                                .fixed_offset = std::nullopt});
      problem.uses.push_back({.weight = uses[id], .forbidden = {}});
      if (before) problem.packing.colocations.push_back({*before, part, problem.packing.buffers[*before].size});
      before = part;
    });
  }
  return problem;
}

}  // namespace

Result<std::string> assign_offsets(Plan& plan, const AliasClasses& classes, const AliasOptions& aliases,
                                   OffsetOptions options) {
  const std::vector<RegionId> regions = writable_regions(plan.machine, kWorker);
  const std::vector<BufferId> buffers = buffers_in_arena(plan, classes, aliases);
  RegionProblem problem = problem_of(plan, buffers, regions, aliases.alignment);
  problem.packing.conflicts = std::move(options.conflicts);
  LOWTIDE_TRY(const RegionPacking packed, allocate_regions(problem, {.effort = options.effort, .stop = options.stop}));
  plan.layout.arena.assign(plan.machine.regions.size(), Bytes(0));
  for (RegionId id : all_ids<RegionId>(packed.fills.size())) {
    plan.layout.arena[regions[id.index()].index()] = packed.fills[id].height;
  }
  std::uint32_t first_part = 0;  // of the next buffer
  for (BufferId id : buffers) {
    Buffer& buffer = plan.layout.buffers[id];
    const Placement& placement = packed.placements[PackingId(first_part)];
    buffer.placement = Placement{regions[placement.region.index()], placement.offset};
    first_part += static_cast<std::uint32_t>(std::max<std::size_t>(buffer.parts.size(), 1));
  }
  return packed.fills[RegionId(0)].strategy;
}

}  // namespace lowtide::pipeline_internal
