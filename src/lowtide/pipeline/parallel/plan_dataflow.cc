// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/parallel/plan_dataflow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/base/try.h"
#include "lowtide/pipeline/place/assign_offsets.h"
#include "lowtide/pipeline/place/other_sharing.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/schedule/dataflow.h"
#include "lowtide/synchronize/waits.h"

namespace lowtide::pipeline_internal {
namespace {

// Each way to share bytes gets the allocation effort divided by this number. The first three ways together get as
// much as a plan on streams.
constexpr std::int64_t kWayEffortShares = 12;

// Collects which nodes touch each part of the buffers that need offsets. A buffer without parts is one part.
class PartUsers {
 public:
  PartUsers(const Graph& graph, const Plan& plan, const AliasClasses& aliases, const AliasOptions& options)
      : graph_(graph), plan_(plan), first_(plan.layout.buffers.size()) {
    for (BufferId id : buffers_in_arena(plan, aliases, options)) {
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

  // Users are positions in the order. `first` has the first step of each.
  std::vector<BufferUsers> collect(const std::vector<StepId>& first) {
    for (PartialOrder::Index at = 0; at + 1 < first.size(); ++at) {
      for (StepId id = first[at]; id < first[at + 1]; id = StepId(id.value() + 1)) {
        const Step& step = plan_.program.steps[id];
        for (ValueId value : step.reads) touch(at, value);
        for (ValueId value : step.writes) touch(at, value);
        if (const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch) add(at, *first_[*scratch]);
      }
    }
    for (BufferUsers& part : users_) part.firsts = part.users;
    return std::move(users_);
  }

 private:
  void add(PartialOrder::Index user, std::size_t part) {
    std::vector<PartialOrder::Index>& users = users_[part].users;
    if (users.empty() || users.back() != user) users.push_back(user);
  }

  // A value without bytes counts as one byte, as in AliasClass::parts.
  void touch(PartialOrder::Index user, ValueId value) {
    const ValuePlace& place = plan_.layout.values[value];
    if (!first_[place.buffer]) return;
    const Buffer& buffer = plan_.layout.buffers[place.buffer];
    const Bytes size = graph_.tensor(plan_.program.values[value].tensor).size;
    const std::int64_t begin = std::min(place.offset.position(), std::max<std::int64_t>(buffer.size.count() - 1, 0));
    const std::int64_t end = begin + std::max<std::int64_t>(size.count(), 1);
    std::size_t part = *first_[place.buffer];
    for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan&) {
      if (buffer.parts.empty() || (bytes.begin < end && begin < bytes.end)) add(user, part);
      ++part;
    });
  }

  const Graph& graph_;
  const Plan& plan_;
  IdVector<BufferId, std::optional<std::size_t>> first_;  // its first part; nullopt: needs no offset
  std::vector<BufferUsers> users_;
};

Result<std::vector<PackingPair>> conflicts_of(const ParallelizeInput& input, const Dataflow& flow,
                                              const Schedule& schedule, const Plan& draft) {
  PartUsers parts(input.graph, draft, schedule.aliases, input.aliases);
  if (parts.size() > kMostDataflowParts) {
    return Error{ErrorCode::over_limit,
                 "dataflow has " + std::to_string(parts.size()) + " buffers and parts, which is above the limit of " +
                     std::to_string(kMostDataflowParts) + " (kMostDataflowParts); plan for streams or waves instead",
                 ""};
  }
  std::vector<PackingPair> conflicts;
  for (const auto& [first, second] :
       buffer_conflicts(flow.known, parts.collect(first_steps(flow.order, schedule.aliases)))) {
    conflicts.push_back({PackingId(first), PackingId(second)});
  }
  return conflicts;
}

Result<ParallelPlan> plan_of(const ParallelizeInput& input, const IdVector<NodeId, std::int64_t>& costs,
                             const Dataflow& flow, const Schedule& schedule, const Claims& sequential) {
  Plan draft = assemble(input, schedule, input.aliases);
  draft.execution = ExecutionModel::dataflow;
  set_streams(draft.program, flow.edges.chains);
  const std::vector<StepId> first = first_steps(flow.order, schedule.aliases);
  for (std::size_t at = 0; at < flow.order.size(); ++at) {
    for (StepId id = first[at]; id < first[at + 1]; id = StepId(id.value() + 1)) {
      draft.program.steps[id].stream = StreamId(flow.edges.chain_of[at]);
    }
  }
  LOWTIDE_TRY(std::vector<PackingPair> conflicts, conflicts_of(input, flow, schedule, draft));
  const PlanOptions& options = input.task.options;
  LOWTIDE_TRY(std::string allocate, assign_offsets(draft, schedule.aliases, input.aliases,
                                                   {.effort = options.allocate_effort / kWayEffortShares,
                                                    .stop = options.stop,
                                                    .conflicts = std::move(conflicts)}));
  // With these offsets, a node waits only for the nodes that it depends on in the graph. Waits that follow from others
  // are omitted. The copies that update states also wait for the steps that read or write their bytes.
  draft.program = with_waits(input.graph, std::move(draft.program), draft.layout);
  const Bytes excess = overflow(draft);
  Plan plan = complete_parallel_plan(input.task, sequential, std::move(draft), schedule.load, std::move(allocate));
  TradeOff trade_off{.run = ExecutionModel::dataflow,
                     .streams = static_cast<std::uint32_t>(plan.program.streams.size()),
                     .load = schedule.load,
                     .arena = arena_bytes(plan),
                     .picoseconds = longest_path(flow, schedule.aliases, costs),
                     .waits = count_waits(plan.program)};
  return ParallelPlan{std::move(plan), std::move(trade_off), excess};
}

}  // namespace

Result<ParallelPlan> plan_dataflow(const ParallelizeInput& input, const IdVector<NodeId, std::int64_t>& costs,
                                   const Claims& sequential) {
  LOWTIDE_TRY(const Dataflow flow, dataflow(input.graph, input.sequential.order));
  std::optional<ParallelPlan> best;
  const auto rank = [](const ParallelPlan& one) {
    return std::tuple(one.overflow, one.trade_off.arena, one.trade_off.picoseconds);
  };
  const auto offer = [&](Result<ParallelPlan> made) -> Result<void> {
    if (!made) return made.error();
    if (!best || rank(*made) < rank(*best)) best = *std::move(made);
    return {};
  };
  std::vector<AliasOptions> ways = other_ways(input.graph, input.sequential, input.aliases);
  ways.insert(ways.begin(), input.aliases);
  for (const AliasOptions& options : ways) {
    Schedule schedule = best ? share_again(input.graph, input.kernels, input.sequential, options) : input.sequential;
    schedule = share_in_dataflow(input.graph, flow, schedule, input.kernels, options);
    LOWTIDE_RETURN_IF_ERROR(offer(plan_of(input, costs, flow, schedule, sequential)));
  }
  const std::optional<AliasOptions> finer = with_finest_alignment(input.aliases);
  if (finer && best->overflow > Bytes(0)) {
    const Schedule again = share_again(input.graph, input.kernels, input.sequential, *finer);
    const Schedule schedule = share_in_dataflow(input.graph, flow, again, input.kernels, *finer);
    const PlanParts& parts = input;
    LOWTIDE_RETURN_IF_ERROR(offer(plan_of({parts, input.task, again, *finer}, costs, flow, schedule, sequential)));
  }
  return *std::move(best);
}

}  // namespace lowtide::pipeline_internal
