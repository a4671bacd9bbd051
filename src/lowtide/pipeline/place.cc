// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "lowtide/allocate/allocate.h"
#include "lowtide/analysis/range_max.h"
#include "lowtide/pipeline/assemble.h"
#include "lowtide/plan/packing.h"

namespace lowtide::detail {
namespace {

// A program without steps has one moment, in which everything lives.
TimeSpan time_of(const Plan& plan, const Lifespan& lifespan) {
  if (plan.program.empty()) return {0, 1};
  return {lifespan.begin.value(), lifespan.end.value()};
}

PackingProblem problem_of(const Plan& plan, const std::vector<BufferId>& buffers, Bytes alignment) {
  PackingProblem problem;
  problem.buffers.reserve(buffers.size());
  for (BufferId id : buffers) {
    const Buffer& buffer = plan.buffers[id];
    problem.buffers.push_back({.lifespan = time_of(plan, buffer.lifespan),
                               .gaps = {},
                               .size = buffer.size,
                               .alignment = alignment,
                               .fixed_offset = std::nullopt});
  }
  return problem;
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

// Of `buffers`, those that a region of this capacity should keep: the most used per step of lifespan first, as long
// as their load stays within the capacity.
std::vector<BufferId> keep_most_used(const Plan& plan, std::vector<BufferId> buffers, Bytes capacity) {
  const IdVector<BufferId, std::int64_t> uses = accesses(plan);
  const auto steps_of = [&](BufferId id) {
    return static_cast<std::int64_t>(plan.buffers[id].lifespan.end.value()) - plan.buffers[id].lifespan.begin.value();
  };
  std::stable_sort(buffers.begin(), buffers.end(), [&](BufferId a, BufferId b) {
    // uses(a) / steps(a) > uses(b) / steps(b), without the division
    return std::tuple(must_multiply(uses[b], steps_of(a)), plan.buffers[a].size, a) <
           std::tuple(must_multiply(uses[a], steps_of(b)), plan.buffers[b].size, b);
  });
  RangeMax load(std::vector<std::int64_t>(plan.program.size(), 0));
  std::vector<BufferId> kept;
  for (BufferId id : buffers) {
    const Buffer& buffer = plan.buffers[id];
    const std::size_t begin = buffer.lifespan.begin.index();
    const std::size_t end = buffer.lifespan.end.index();
    if (begin >= end || load.most(begin, end) + buffer.size.count() > capacity.count()) continue;
    load.add(begin, end, buffer.size.count());
    kept.push_back(id);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

// Places `buffers` in one region; returns those that ended above `capacity`, which then have no placement.
std::vector<BufferId> place_in(Plan& plan, RegionId region, const std::vector<BufferId>& buffers, const Packing& packed,
                               std::optional<Bytes> capacity) {
  std::vector<BufferId> above;
  for (std::size_t at = 0; at < buffers.size(); ++at) {
    const Offset offset = packed.offsets[PackingId(static_cast<std::uint32_t>(at))];
    const Offset end = offset + plan.buffers[buffers[at]].size;
    if (capacity && end.position() > capacity->count()) {
      above.push_back(buffers[at]);
      continue;
    }
    plan.buffers[buffers[at]].placement = Placement{region, offset};
    plan.arena[region.index()] = std::max(plan.arena[region.index()], Bytes(end.position()));
  }
  return above;
}

std::vector<BufferId> without(const std::vector<BufferId>& all, const std::vector<BufferId>& some) {
  std::vector<BufferId> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

Result<Placed> place(Plan& plan, const AliasClasses& aliases, const std::vector<Region>& regions,
                     const AliasOptions& options, std::int64_t effort) {
  std::vector<BufferId> left = buffers_with_room(plan, aliases, options);
  plan.arena.assign(regions.size(), Bytes(0));
  plan.regions = regions;
  Placed placed;
  for (std::size_t at = 0; at < regions.size(); ++at) {
    const bool is_last = at + 1 == regions.size();
    const Bytes alignment = std::max(options.alignment, regions[at].alignment);
    const RegionId region(static_cast<std::uint32_t>(at));
    Result<Packing> packed = allocate(problem_of(plan, left, alignment), {.effort = effort});
    if (!packed) return packed.error();
    if (at == 0) placed.strategy = packed->strategy;
    const bool fits = !regions[at].capacity || packed->height <= *regions[at].capacity;
    if (fits || is_last) {
      place_in(plan, region, left, *packed, std::nullopt);
      placed.is_tight = at == 0;
      return placed;
    }
    const std::vector<BufferId> kept = keep_most_used(plan, left, *regions[at].capacity);
    Result<Packing> some = allocate(problem_of(plan, kept, alignment), {.effort = effort});
    if (!some) return some.error();
    const std::vector<BufferId> above = place_in(plan, region, kept, *some, regions[at].capacity);
    left = without(left, without(kept, above));
  }
  return placed;
}

}  // namespace lowtide::detail
