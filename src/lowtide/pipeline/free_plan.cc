// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/free_plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/pipeline/other_sharing.h"
#include "lowtide/pipeline/place.h"
#include "lowtide/schedule/free_flow.h"
#include "lowtide/schedule/waits.h"

namespace lowtide::detail {
namespace {

// Of the effort of allocate: as much for all ways to share as for one point of streams.
constexpr std::int64_t kEffortShares = 12;

// Buffers that take room, or their parts, with the steps that touch them.
class Pieces {
 public:
  Pieces(const Graph& graph, const Plan& plan, const std::vector<BufferId>& buffers)
      : graph_(graph), plan_(plan), first_(plan.buffers.size()) {
    for (BufferId id : buffers) {
      first_[id] = users_.size();
      for_each_part(plan.buffers[id], [&](const Interval<std::int64_t>&, const Lifespan& lifespan) {
        const bool is_last = lifespan.end.index() == plan.program.size();
        users_.push_back(
            {.firsts = {}, .users = {}, .is_kept = plan.buffers[id].kind == BufferKind::output && is_last});
      });
    }
  }

  [[nodiscard]] std::size_t size() const { return users_.size(); }

  std::vector<BufferUsers> with_users() {
    for (StepId id : all_ids<StepId>(plan_.program.size())) {
      const Step& step = plan_.program[id];
      for (ValueId value : step.reads) touch(id, plan_.values[value]);
      for (ValueId value : step.writes) touch(id, plan_.values[value]);
      if (step.scratch) add(id, *first_[*step.scratch]);
    }
    for (BufferUsers& piece : users_) piece.firsts = piece.users;
    return std::move(users_);
  }

 private:
  void add(StepId step, std::size_t piece) {
    std::vector<PartialOrder::Index>& users = users_[piece].users;
    if (users.empty() || users.back() != step.value()) users.push_back(step.value());
  }

  // A value without bytes counts as one byte, as where parts were made (AliasClass::parts).
  void touch(StepId step, const Value& value) {
    if (!first_[value.buffer]) return;
    const Buffer& buffer = plan_.buffers[value.buffer];
    const std::int64_t begin = std::min(value.offset.position(), std::max<std::int64_t>(buffer.size.count() - 1, 0));
    const std::int64_t end = begin + std::max<std::int64_t>(graph_.tensor(value.tensor).size.count(), 1);
    std::size_t piece = *first_[value.buffer];
    for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan&) {
      if (buffer.parts.empty() || (bytes.begin < end && begin < bytes.end)) add(step, piece);
      ++piece;
    });
  }

  const Graph& graph_;
  const Plan& plan_;
  IdVector<BufferId, std::optional<std::size_t>> first_;  // nothing: takes no room
  std::vector<BufferUsers> users_;
};

Result<SpreadPlan> plan_of(const SpreadInput& input, const IdVector<NodeId, std::int64_t>& costs, const FreeFlow& flow,
                           const Schedule& schedule) {
  SpreadPlan made{.plan = assemble(input.graph, schedule, input.kernels, input.bodies, input.aliases), .point = {}};
  Plan& plan = made.plan;
  plan.streams = flow.edges.chains;
  for (StepId id : all_ids<StepId>(plan.program.size())) plan.program[id].stream = flow.edges.chain_of[id.index()];

  Pieces pieces(input.graph, plan, buffers_with_room(plan, schedule.aliases, input.aliases));
  if (pieces.size() > kMostFreePieces) {
    return Error{ErrorCode::over_limit,
                 "free data flow of " + std::to_string(pieces.size()) + " buffers and parts, more than the limit of " +
                     std::to_string(kMostFreePieces) + " (kMostFreePieces); plan for streams or waves instead",
                 ""};
  }
  std::vector<PackingPair> conflicts;
  for (const auto& [first, second] : buffer_conflicts(flow.known, pieces.with_users())) {
    conflicts.push_back({PackingId(first), PackingId(second)});
  }
  Result<Placed> placed = place(plan, schedule.aliases, input.regions, input.aliases,
                                input.options.allocate_effort / kEffortShares, std::move(conflicts));
  if (!placed) return placed.error();
  // With such offsets whatever must wait for something does so by the edges: these, but for what follows from others.
  add_waits(input.graph, plan);
  set_claims(plan, input.plan, schedule.load, placed->strategy);
  made.point = {.run = RunForm::free,
                .streams = plan.streams,
                .load = schedule.load,
                .arena = arena_bytes(plan),
                .picoseconds = longest_path(flow, schedule.aliases, costs),
                .waits = waits_of(plan)};
  return made;
}

}  // namespace

Result<SpreadPlan> free_plan(const SpreadInput& input, const IdVector<NodeId, std::int64_t>& costs) {
  const Result<FreeFlow> flow = free_flow(input.graph, input.sequential.order);
  if (!flow) return flow.error();
  std::optional<SpreadPlan> best;
  std::vector<AliasOptions> ways = other_ways(input.graph, input.sequential, input.aliases);
  ways.insert(ways.begin(), input.aliases);
  for (const AliasOptions& options : ways) {
    Schedule schedule = best ? shared_anew(input.graph, input.kernels, input.sequential, options) : input.sequential;
    schedule = share_in_free_flow(input.graph, *flow, schedule, input.kernels, options);
    Result<SpreadPlan> made = plan_of(input, costs, *flow, schedule);
    if (!made) return made.error();
    const auto rank = [](const StreamPoint& point) { return std::pair(point.arena, point.picoseconds); };
    if (!best || rank(made->point) < rank(best->point)) best = *std::move(made);
  }
  return *std::move(best);
}

}  // namespace lowtide::detail
