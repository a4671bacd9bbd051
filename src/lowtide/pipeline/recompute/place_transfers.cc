// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/place_transfers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/allocate/allocate.h"
#include "lowtide/base/check.h"
#include "lowtide/base/try.h"
#include "lowtide/pipeline/place/assemble.h"

namespace lowtide::pipeline_internal {
namespace {

constexpr StreamId kRuns = StreamId(0);
constexpr StreamId kOut = StreamId(1);
constexpr StreamId kIn = StreamId(2);
constexpr std::int64_t kOutsideEffort = 10'000'000;  // of allocate

class Transfers {
 public:
  Transfers(const ExpandedGraph& expanded, const SwapRoute& route, Plan plan)
      : expanded_(expanded), route_(route), old_(std::move(plan)), plan_(old_) {}

  Result<Plan> place() && {
    find_positions();
    sort_steps();
    move_lifespans();
    for (Moved& moved : moves_) copy(moved);
    add_waits();
    LOWTIDE_RETURN_IF_ERROR(place_outside());
    plan_.execution = ExecutionModel::streams;
    return std::move(plan_);
  }

 private:
  // A copy, and its step before and after the steps are sorted.
  struct Moved {
    Transfer transfer;
    StepId before;
    StepId step = {};
    [[nodiscard]] bool is_out() const { return transfer.direction == TransferDirection::out; }
  };

  [[nodiscard]] std::size_t steps() const { return old_.program.steps.size(); }

  // Steps without a node are copies for the next node, or update states at the end.
  void find_positions() {
    position_ = IdVector<StepId, std::uint32_t>(steps(), 0);
    move_of_ = IdVector<StepId, std::optional<std::size_t>>(steps());
    std::uint32_t next = 0;
    for (std::uint32_t run : expanded_.run_of) next = std::max(next, run + 1);
    auto move = expanded_.moves.rbegin();
    for (std::size_t at = steps(); at-- > 0;) {
      const StepId id(static_cast<std::uint32_t>(at));
      const std::optional<NodeId> node = node_of(old_.program.steps[id]);
      if (node) next = expanded_.run_of[*node];
      position_[id] = next;
      if (!node || move == expanded_.moves.rend() || move->node != *node) continue;
      moves_.push_back({.transfer = move->transfer, .before = id});
      ++move;
    }
    LOWTIDE_CHECK(move == expanded_.moves.rend(), "every copy over a link has a step, in the order of the nodes");
    std::reverse(moves_.begin(), moves_.end());
    for (std::size_t at = 0; at < moves_.size(); ++at) move_of_[moves_[at].before] = at;
  }

  // After each run, the copies out that it issues, and then the copies in.
  void sort_steps() {
    const auto rank = [&](StepId id) {
      const std::optional<std::size_t>& at = move_of_[id];
      if (!at) return std::tuple(position_[id], 0, id);
      return std::tuple(moves_[*at].transfer.issue, moves_[*at].is_out() ? 1 : 2, id);
    };
    std::vector<StepId> order;
    for (StepId id : all_ids<StepId>(steps())) order.push_back(id);
    std::sort(order.begin(), order.end(), [&](StepId a, StepId b) { return rank(a) < rank(b); });
    new_step_ = IdVector<StepId, StepId>(steps());
    plan_.program.steps = {};
    plan_.layout.steps = {};
    for (StepId id : order) {
      new_step_[id] = plan_.program.steps.push_back(old_.program.steps[id]);
      plan_.layout.steps.push_back(old_.layout.steps[id]);
      listed_.push_back(move_of_[id]);
      if (move_of_[id]) {
        moves_[*move_of_[id]].step = new_step_[id];
      } else if (runs_.empty() || runs_.back().first < position_[id]) {
        runs_.emplace_back(position_[id], new_step_[id]);
      }
    }
    for (Value& value : plan_.program.values) {
      if (value.written) value.written = new_step_[*value.written];
    }
  }

  // Copies out are now listed earlier, and all other steps have the same order.
  [[nodiscard]] StepId new_end(StepId end) const {
    if (end == StepId(0)) return end;
    const StepId last(end.value() - 1);
    if (!is_out(last)) return StepId(new_step_[last].value() + 1);
    for (; end.index() < steps(); end = StepId(end.value() + 1)) {
      if (!is_out(end)) return new_step_[end];
    }
    return end;
  }
  [[nodiscard]] bool is_out(StepId id) const { return move_of_[id] && moves_[*move_of_[id]].is_out(); }

  void move_lifespans() {
    for (Buffer& buffer : plan_.layout.buffers) {
      buffer.lifespan = moved(buffer.lifespan);
      for (BufferPart& part : buffer.parts) part.lifespan = moved(part.lifespan);
    }
  }
  [[nodiscard]] Lifespan moved(const Lifespan& old) const {
    return old.empty() ? old : Lifespan{new_step_[old.begin], new_end(old.end)};
  }

  void copy(const Moved& moved) {
    Step& step = plan_.program.steps[moved.step];
    const ValueId inside = moved.is_out() ? step.reads[0] : step.writes[0];
    const ValueId outside = moved.is_out() ? step.writes[0] : step.reads[0];
    const Bytes size = expanded_.graph.tensor(plan_.program.values[inside].tensor).size;
    step.work = Copy{{0, size.count()}};
    step.stream = moved.is_out() ? kOut : kIn;
    const BufferId id = plan_.layout.values[outside].buffer;
    Buffer& buffer = plan_.layout.buffers[id];
    const StepId end = first_step_at(moved.transfer.complete);
    if (!moved.is_out()) {
      buffer.lifespan.end = std::max(buffer.lifespan.end, end);
      return;
    }
    const Region& region = plan_.machine.regions[route_.outside.index()];
    buffer = {.size = round_up(size, region.alignment), .lifespan = {moved.step, end}};
    outside_.push_back(id);
  }

  // The first step of the run at a position, or of one after it, which begins after the copies that are complete there.
  [[nodiscard]] StepId first_step_at(std::uint32_t position) const {
    const auto first = std::lower_bound(runs_.begin(), runs_.end(), position,
                                        [](const auto& run, std::uint32_t at) { return run.first < at; });
    return first == runs_.end() ? StepId(static_cast<std::uint32_t>(steps())) : first->second;
  }

  void add_waits() {
    set_streams(plan_.program, 1);
    plan_.program.streams.push_back({.worker = std::nullopt, .link = route_.out});
    plan_.program.streams.push_back({.worker = std::nullopt, .link = route_.in});
    std::size_t next_run = 0;
    std::optional<StepId> last_run;
    for (StepId id : all_ids<StepId>(steps())) {
      if (!listed_[id]) {
        if (next_run < runs_.size() && runs_[next_run].second == id) {
          const std::uint32_t position = runs_[next_run++].first;
          wait(id, kRuns, {last_complete(true, position), last_complete(false, position)});
        }
        last_run = id;
        continue;
      }
      const Moved& moved = moves_[*listed_[id]];
      if (moved.is_out()) {
        wait(id, kOut, {last_run});
      } else {
        wait(id, kIn, {last_run, last_complete(true, moved.transfer.issue + 1)});
      }
    }
  }

  // The last copy of one direction that is complete before a position.
  [[nodiscard]] std::optional<StepId> last_complete(bool is_out, std::uint32_t position) const {
    std::optional<StepId> last;
    for (const Moved& moved : moves_) {
      if (moved.is_out() == is_out && moved.transfer.complete <= position)
        last = std::max(last, std::optional(moved.step));
    }
    return last;
  }

  // A stream waits only once for a step, and the last step of a stream is after all steps before it.
  void wait(StepId id, StreamId stream, const std::vector<std::optional<StepId>>& steps) {
    Step& step = plan_.program.steps[id];
    for (const std::optional<StepId>& before : steps) {
      if (!before) continue;
      std::optional<StepId>& known = waited_[stream.index()][plan_.program.steps[*before].stream.index()];
      if (known && *known >= *before) continue;
      known = *before;
      step.after.push_back(*before);
    }
    std::sort(step.after.begin(), step.after.end());
  }

  Result<void> place_outside() {
    const Region& region = plan_.machine.regions[route_.outside.index()];
    PackingProblem problem;
    for (BufferId id : outside_) {
      const Buffer& buffer = plan_.layout.buffers[id];
      problem.buffers.push_back({.lifespan = {buffer.lifespan.begin.value(), buffer.lifespan.end.value()},
                                 .gaps = {},
                                 .size = buffer.size,
                                 .alignment = region.alignment,
                                 .fixed_offset = std::nullopt});
    }
    LOWTIDE_TRY(const Packing packing, allocate(problem, {.effort = kOutsideEffort}));
    for (std::size_t at = 0; at < outside_.size(); ++at) {
      plan_.layout.buffers[outside_[at]].placement =
          Placement{route_.outside, packing.offsets[PackingId(static_cast<std::uint32_t>(at))]};
    }
    plan_.layout.arena[route_.outside.index()] = packing.height;
    return {};
  }

  const ExpandedGraph& expanded_;
  const SwapRoute& route_;
  const Plan old_;
  Plan plan_;
  IdVector<StepId, std::uint32_t> position_;              // of the run, by old step
  IdVector<StepId, std::optional<std::size_t>> move_of_;  // by old step: in moves_
  std::vector<Moved> moves_;                              // in the order of the old steps
  IdVector<StepId, StepId> new_step_;                     // by old step
  IdVector<StepId, std::optional<std::size_t>> listed_;   // by new step: in moves_
  std::vector<std::pair<std::uint32_t, StepId>> runs_;    // positions and their first steps, ascending
  std::vector<BufferId> outside_;
  std::array<std::array<std::optional<StepId>, 3>, 3> waited_;  // by stream that waits, and stream of the step
};

}  // namespace

Result<Plan> place_transfers(const ExpandedGraph& expanded, const SwapRoute& route, Plan plan) {
  return Transfers(expanded, route, std::move(plan)).place();
}

}  // namespace lowtide::pipeline_internal
