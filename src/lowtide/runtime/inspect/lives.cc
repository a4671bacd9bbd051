// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/inspect/lives.h"

#include <algorithm>

#include "lowtide/runtime/inspect/probe.h"

namespace lowtide::runtime_internal {
IdVector<BufferId, std::int64_t> used_bytes(const PreparedGraph& in) {
  const Layout& layout = in.plan.layout;
  IdVector<BufferId, std::int64_t> used(layout.buffers.size(), 0);
  for (BufferId id : all_ids<BufferId>(layout.buffers.size())) {
    if (layout.buffers[id].kind == BufferKind::scratch) used[id] = layout.buffers[id].size.count();
  }
  for (ValueId id : all_ids<ValueId>(layout.values.size())) {
    const ValuePlace& place = layout.values[id];
    const Bytes size = in.graph.tensor(in.plan.program.values[id].tensor).size;
    used[place.buffer] = std::max(used[place.buffer], (place.offset + size).position());
  }
  return used;
}

Lives::Lives(const Prepared& prepared) {
  for (PreparedGraphId id : all_ids<PreparedGraphId>(prepared.graphs.size())) {
    const PreparedGraph& in = prepared.graphs[id];
    const std::int64_t begin = in.arena.position();
    const std::int64_t size = in.plan.layout.arena.empty() ? 0 : in.plan.layout.arena[0].count();
    arenas_.push_back({begin, begin + size});
    std::vector<StepId> steps;
    for (const Action& action : in.actions) steps.push_back(step_of(action));
    actions_.push_back(std::move(steps));
    add_parts(prepared, id);
  }
}

void Lives::add_parts(const Prepared& prepared, PreparedGraphId id) {
  const PreparedGraph& in = prepared.graphs[id];
  const IdVector<BufferId, std::int64_t> used = used_bytes(in);
  std::vector<std::size_t> own;
  for (BufferId buffer : all_ids<BufferId>(used.size())) {
    const Buffer& of = in.plan.layout.buffers[buffer];
    if (!of.placement) continue;
    const RegionId region = of.placement->region;
    const bool is_away = is_outside(in.plan.machine, region);
    const Offset begin =
        is_away ? outside_begin(prepared) + Bytes(prepared.outside[region.index()].position()) : in.arena;
    const std::int64_t base = (begin + Bytes(of.placement->offset.position())).position();
    for_each_part(of, [&](Interval<std::int64_t> bytes, Lifespan lifespan) {
      own.push_back(parts_.size());
      const std::int64_t end = std::clamp(used[buffer], bytes.begin, bytes.end);
      parts_.push_back({id, buffer, {base + bytes.begin, base + bytes.end}, base + end, lifespan, is_away});
    });
  }
  by_begin_.push_back(own);
  by_end_.push_back(std::move(own));
  std::ranges::stable_sort(by_begin_[id], {}, [&](std::size_t at) { return parts_[at].lifespan.begin; });
  std::ranges::stable_sort(by_end_[id], {}, [&](std::size_t at) { return parts_[at].lifespan.end; });
}

std::optional<StepId> Lives::first_action(PreparedGraphId graph) const {
  const std::vector<StepId>& steps = actions_[graph];
  return steps.empty() ? std::nullopt : std::optional(steps.front());
}

std::optional<StepId> Lives::next_action(const RunPlace& place) const {
  const std::vector<StepId>& steps = actions_[place.graph];
  const auto next = std::upper_bound(steps.begin(), steps.end(), place.step);
  return next == steps.end() ? std::nullopt : std::optional(*next);
}

namespace {

// The bytes of each part that count: scratch of a kernel as a whole, and scratch of a step with bodies as far as these
// have written.
std::vector<std::int64_t> counted_bytes(const Prepared& prepared, const Lives& lives,
                                        const std::vector<std::int64_t>& written) {
  std::vector<std::int64_t> counted = written;
  for (std::size_t at = 0; at < counted.size(); ++at) {
    const LivePart& part = lives.parts()[at];
    const Layout& layout = prepared.graphs[part.graph].plan.layout;
    if (layout.buffers[part.buffer].kind != BufferKind::scratch) continue;
    const bool has_bodies = !layout.steps[part.lifespan.begin].bodies.empty();
    counted[at] = has_bodies ? 0 : part.bytes.end - part.bytes.begin;
  }
  for (std::size_t graph = prepared.graphs.size(); graph-- > 1;) {  // bodies before the graphs around them
    const PreparedGraphId id(static_cast<std::uint32_t>(graph));
    std::int64_t highest = 0;
    for (std::size_t at : lives.by_begin(id)) {
      if (counted[at] > 0) highest = std::max(highest, lives.parts()[at].bytes.begin + counted[at]);
    }
    const AroundBody& around = *prepared.graphs[id].around;
    const std::optional<BufferId> scratch = prepared.graphs[around.graph].plan.layout.steps[around.step].scratch;
    for (std::size_t at : lives.by_begin(around.graph)) {
      const LivePart& whole = lives.parts()[at];
      if (whole.buffer == scratch) counted[at] = std::max(counted[at], highest - whole.bytes.begin);
    }
  }
  return counted;
}

}  // namespace

SeenMemory seen_memory(const Prepared& prepared, const Lives& lives, const std::vector<std::int64_t>& written) {
  const std::vector<std::int64_t> seen = counted_bytes(prepared, lives, written);
  const std::int64_t alignment = prepared.plan.machine.regions[0].alignment.count();
  const std::size_t steps = prepared.plan.program.steps.size();
  std::vector<std::int64_t> change(std::max<std::size_t>(steps, 1) + 1, 0);
  SeenMemory memory;
  memory.buffers = IdVector<BufferId, std::optional<Bytes>>(prepared.plan.layout.buffers.size());
  for (std::size_t at : lives.by_begin(kMainGraph)) {
    const LivePart& part = lives.parts()[at];
    memory.buffers[part.buffer] = memory.buffers[part.buffer].value_or(Bytes(0)) + Bytes(seen[at]);
    if (seen[at] == 0 || part.is_outside) continue;
    const std::int64_t size = part.bytes.end - part.bytes.begin;
    const std::int64_t rounded = std::min(round_up(Bytes(seen[at]), Bytes(alignment)).count(), size);
    memory.arena = std::max(memory.arena, Bytes(part.bytes.begin + rounded));
    change[part.lifespan.begin.index()] += rounded;
    change[std::max(part.lifespan.end.index(), part.lifespan.begin.index() + 1)] -= rounded;
  }
  std::int64_t live = 0;
  for (std::int64_t step : change) {
    live += step;
    memory.peak = std::max(memory.peak, Bytes(live));
  }
  return memory;
}

}  // namespace lowtide::runtime_internal
