// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/disjoint_sets.h"
#include "lowtide/runtime/inspect.h"

namespace lowtide {
namespace {

// Gives the values of one plan buffers of their own. All buffers are live in all steps.
class Separation {
 public:
  Separation(const Graph& graph, const Plan& plan)
      : graph_(graph), old_(plan), plan_(plan), groups_(plan.program.values.size()) {}

  Plan make() && {
    for (Region& region : plan_.machine.regions) {
      region.capacity.reset();
      alignment_ = std::max({alignment_, region.alignment, Bytes(64)});
    }
    ends_.resize(plan_.machine.regions.size());
    plan_.layout.buffers = {};
    connect();
    keep_unplaced();
    find_ranges();
    place_values();
    for (StepId id : all_ids<StepId>(plan_.layout.steps.size())) place_scratch(id);
    state_claims();
    return std::move(plan_);
  }

 private:
  struct Group {
    std::optional<Interval<std::int64_t>> bytes;  // in the old buffer
    BufferKind kind = BufferKind::temporary;
    RegionId region = RegionId(0);
    std::optional<BufferId> buffer;
  };

  // An alias step needs the bytes of its operands where its results are, so they stay together.
  void connect() {
    for (const Step& step : old_.program.steps) {
      if (!is_alias(step)) continue;
      for (const auto* list : {&step.reads, &step.writes}) {
        for (ValueId one : *list) {
          for (ValueId other : step.writes) {
            if (old_.layout.values[one].buffer == old_.layout.values[other].buffer) groups_.join(one, other);
          }
        }
      }
    }
  }

  // Inputs, constants and states stay what they are, with everything that is in their bytes.
  void keep_unplaced() {
    for (const Buffer& old : old_.layout.buffers) {
      kept_.push_back(old.placement ? std::nullopt : std::optional(plan_.layout.buffers.push_back(old)));
    }
  }

  void find_ranges() {
    all_groups_ = IdVector<ValueId, Group>(old_.program.values.size());
    for (ValueId id : all_ids<ValueId>(all_groups_.size())) {
      Group& group = all_groups_[groups_.find(id)];
      const ValuePlace& place = old_.layout.values[id];
      const std::int64_t begin = place.offset.position();
      const std::int64_t end = begin + graph_.tensor(old_.program.values[id].tensor).size.count();
      const Interval<std::int64_t> before = group.bytes.value_or(Interval<std::int64_t>{begin, end});
      group.bytes = {std::min(before.begin, begin), std::max(before.end, end)};
      if (const auto& placement = old_.layout.buffers[place.buffer].placement) group.region = placement->region;
      const bool is_input = old_.layout.buffers[place.buffer].kind == BufferKind::input;
      if (is_input && !old_.program.values[id].written) group.kind = BufferKind::input;
    }
    for (ValueId output : old_.program.outputs) {
      Group& group = all_groups_[groups_.find(output)];
      if (group.kind != BufferKind::input) group.kind = BufferKind::output;
    }
  }

  BufferId add_buffer(BufferKind kind, Bytes size, RegionId region = RegionId(0)) {
    Bytes& end = ends_[region.index()];
    const BufferId id = plan_.layout.buffers.push_back(
        {.kind = kind,
         .size = round_up(size, alignment_),
         .lifespan = {StepId(0), StepId(static_cast<std::uint32_t>(old_.program.steps.size()))},
         .placement = Placement{region, Offset(end.count())}});
    if (!is_outside(plan_.machine, region)) load_ += plan_.layout.buffers[id].size;
    end += plan_.layout.buffers[id].size + alignment_;  // some bytes that no buffer has
    return id;
  }

  void place_values() {
    for (ValueId id : all_ids<ValueId>(all_groups_.size())) {
      ValuePlace& place = plan_.layout.values[id];
      if (const std::optional<BufferId>& kept = kept_[place.buffer]) {
        place.buffer = *kept;
        continue;
      }
      Group& group = all_groups_[groups_.find(id)];
      if (!group.buffer)
        group.buffer = add_buffer(group.kind, Bytes(group.bytes->end - group.bytes->begin), group.region);
      place = {*group.buffer, Offset(place.offset.position() - group.bytes->begin)};
    }
  }

  // Recursion is bounded by limits::kMaxBodyNesting.
  void place_scratch(StepId id) {
    StepSpace& space = plan_.layout.steps[id];
    Bytes size = space.scratch ? old_.layout.buffers[*space.scratch].size : Bytes(0);
    if (!space.bodies.empty()) size = Bytes(0);
    for (std::size_t at = 0; at < space.bodies.size(); ++at) {
      const Graph& body = *graph_.node(*node_of(old_.program.steps[id])).bodies[at].graph;
      BodyPlan& inside = space.bodies[at];
      inside.plan = std::make_shared<const Plan>(no_reuse_plan(body, *inside.plan));
      inside.offset = Offset(size.count());
      size += round_up(inside.plan->layout.arena[0], alignment_);
    }
    if (space.scratch || size > Bytes(0)) space.scratch = add_buffer(BufferKind::scratch, size);
  }

  void state_claims() {
    plan_.layout.arena.clear();
    for (Bytes end : ends_) plan_.layout.arena.push_back(std::max(end - alignment_, Bytes(0)));
    Claims& claims = plan_.claims;
    claims.load = load_;
    claims.bounds.clear();
    claims.schedule_optimal = false;
    claims.allocate = "no_reuse";
    claims.allocate_optimal = arena_bytes(plan_) == load_;
    claims.shortfall = Bytes(0);
  }

  const Graph& graph_;
  const Plan& old_;
  Plan plan_;
  Bytes alignment_;
  std::vector<Bytes> ends_;  // by region
  Bytes load_;
  DisjointSets<ValueId> groups_;
  IdVector<ValueId, Group> all_groups_;  // by the value that represents the group
  IdVector<BufferId, std::optional<BufferId>> kept_;
};

}  // namespace

Plan no_reuse_plan(const Graph& graph, const Plan& plan) { return Separation(graph, plan).make(); }

}  // namespace lowtide
