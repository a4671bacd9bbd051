// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/dataflow_plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/pipeline/other_sharing.h"
#include "lowtide/pipeline/place.h"
#include "lowtide/schedule/dataflow.h"
#include "lowtide/synchronize/waits.h"

namespace lowtide::detail {
namespace {

// Of the effort of allocate: as much for all ways to share as for one point of streams.
constexpr std::int64_t kEffortShares = 12;

// Buffers that take room, or their parts, with the nodes' steps that touch them.
class Pieces {
 public:
  Pieces(const Graph& graph, const Plan& plan, const AliasClasses& aliases, const AliasOptions& options)
      : graph_(graph), plan_(plan), first_(plan.layout.buffers.size()) {
    for (BufferId id : buffers_with_room(plan, aliases, options)) {
      const bool is_scratch = id.index() >= aliases.classes.size();
      const bool is_kept = !is_scratch && aliases.classes[AliasClassId(id.value())].is_kept;
      first_[id] = users_.size();
      for_each_part(plan.layout.buffers[id], [&](const Interval<std::int64_t>&, const Lifespan& lifespan) {
        const bool is_last = lifespan.end.index() == plan.program.steps.size();
        users_.push_back({.firsts = {}, .users = {}, .is_kept = is_kept && is_last});
      });
    }
  }

  [[nodiscard]] std::size_t size() const { return users_.size(); }

  std::vector<BufferUsers> with_users() {
    for (StepId id : all_ids<StepId>(graph_.nodes().size())) {
      const Step& step = plan_.program.steps[id];
      for (ValueId value : step.reads) touch(id, value);
      for (ValueId value : step.writes) touch(id, value);
      if (const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch) add(id, *first_[*scratch]);
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
  void touch(StepId step, ValueId value) {
    const ValuePlace& place = plan_.layout.values[value];
    if (!first_[place.buffer]) return;
    const Buffer& buffer = plan_.layout.buffers[place.buffer];
    const Bytes size = graph_.tensor(plan_.program.values[value].tensor).size;
    const std::int64_t begin = std::min(place.offset.position(), std::max<std::int64_t>(buffer.size.count() - 1, 0));
    const std::int64_t end = begin + std::max<std::int64_t>(size.count(), 1);
    std::size_t piece = *first_[place.buffer];
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

Result<SpreadPlan> plan_of(const SpreadInput& input, const IdVector<NodeId, std::int64_t>& costs, const Dataflow& flow,
                           const Schedule& schedule) {
  SpreadPlan made{.plan = assemble(input, schedule, input.aliases), .point = {}};
  Plan& plan = made.plan;
  plan.execution = ExecutionModel::dataflow;
  set_streams(plan.program, flow.edges.chains);
  for (StepId id : all_ids<StepId>(flow.order.size())) {
    plan.program.steps[id].stream = StreamId(flow.edges.chain_of[id.index()]);
  }

  Pieces pieces(input.graph, plan, schedule.aliases, input.aliases);
  if (pieces.size() > kMostDataflowPieces) {
    return Error{ErrorCode::over_limit,
                 "dataflow of " + std::to_string(pieces.size()) + " buffers and parts, more than the limit of " +
                     std::to_string(kMostDataflowPieces) + " (kMostDataflowPieces); plan for streams or waves instead",
                 ""};
  }
  std::vector<PackingPair> conflicts;
  for (const auto& [first, second] : buffer_conflicts(flow.known, pieces.with_users())) {
    conflicts.push_back({PackingId(first), PackingId(second)});
  }
  Result<Placed> placed =
      place(plan, schedule.aliases, input.aliases, input.options.allocate_effort / kEffortShares, std::move(conflicts));
  if (!placed) return placed.error();
  // With such offsets a node waits by the edges of the graph alone: these, except those that follow from others. The
  // copies of updates wait for what reads and writes their bytes.
  plan.program = with_waits(input.graph, std::move(plan.program), plan.layout);
  set_claims(plan, input.plan, schedule.load, placed->strategy);
  made.point = {.run = ExecutionModel::dataflow,
                .streams = static_cast<std::uint32_t>(plan.program.streams.size()),
                .load = schedule.load,
                .arena = arena_bytes(plan),
                .picoseconds = longest_path(flow, schedule.aliases, costs),
                .waits = waits_of(plan)};
  return made;
}

}  // namespace

Result<SpreadPlan> dataflow_plan(const SpreadInput& input, const IdVector<NodeId, std::int64_t>& costs) {
  const Result<Dataflow> flow = dataflow(input.graph, input.sequential.order);
  if (!flow) return flow.error();
  std::optional<SpreadPlan> best;
  std::vector<AliasOptions> ways = other_ways(input.graph, input.sequential, input.aliases);
  ways.insert(ways.begin(), input.aliases);
  for (const AliasOptions& options : ways) {
    Schedule schedule = best ? shared_anew(input.graph, input.kernels, input.sequential, options) : input.sequential;
    schedule = share_in_dataflow(input.graph, *flow, schedule, input.kernels, options);
    Result<SpreadPlan> made = plan_of(input, costs, *flow, schedule);
    if (!made) return made.error();
    const auto rank = [](const StreamPoint& point) { return std::pair(point.arena, point.picoseconds); };
    if (!best || rank(made->point) < rank(best->point)) best = *std::move(made);
  }
  return *std::move(best);
}

}  // namespace lowtide::detail
