// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/parallel/choose_parallel.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/pipeline/parallel/parallelize.h"
#include "lowtide/pipeline/place/other_sharing.h"
#include "lowtide/pipeline/sequence/exchange.h"
#include "lowtide/pipeline/sequence/outcome.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/pipeline/task/shortfall.h"
#include "lowtide/plan/plan_limits.h"

namespace lowtide::pipeline_internal {
namespace {

class ParallelChoice {
 public:
  ParallelChoice(const Task& task, const Alternatives& plans) : task_(task), plans_(plans) {}

  Result<std::optional<PlannedGraph>> run() && {
    LOWTIDE_RETURN_IF_ERROR(add(plans_.fastest));
    if (fits() || !plans_.lightest) return std::move(best_);
    if (plans_.exchanged) LOWTIDE_RETURN_IF_ERROR(add(*plans_.exchanged));
    LOWTIDE_RETURN_IF_ERROR(add(*plans_.lightest));
    // Streams and waves include the sequence, for which kernels were exchanged already.
    if (fits() && task_.options.run == ExecutionModel::dataflow) LOWTIDE_RETURN_IF_ERROR(bisect());
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool fits() const { return best_ && !exceeds(task_, best_->plan.layout); }

  // Plans the run with the kernels of this sequence, and keeps it if it is the best so far. Returns whether it fits.
  // Kernels whose sequence a plan file cannot hold are left out.
  Result<bool> add(const Sequence& sequence) {
    PlannedGraph planned = collect(task_, plans_, sequence);
    if (!check_plan_limits(planned.plan)) return false;
    const PlacedSchedule& placed = sequence.placed;
    const AliasOptions aliases = placed.has_finest_alignment ? *with_finest_alignment(task_.aliases) : task_.aliases;
    LOWTIDE_TRY(PlannedGraph made,
                parallelize({parts_of(task_, sequence.choice), task_, placed.schedule, aliases}, std::move(planned)));
    const bool fits = !exceeds(task_, made.plan.layout);
    if (!best_ || rank(made) < rank(*best_)) best_ = std::move(made);
    return fits;
  }

  [[nodiscard]] std::tuple<Bytes, std::int64_t, std::int64_t, Bytes> rank(const PlannedGraph& planned) const {
    const auto used = std::find_if(planned.trade_offs.begin(), planned.trade_offs.end(),
                                   [](const TradeOff& one) { return one.is_chosen; });
    const bool is_timed = planned.exchange && planned.exchange->added_picoseconds;
    const std::int64_t time = is_timed ? used->picoseconds : std::numeric_limits<std::int64_t>::max();
    const std::int64_t nodes = planned.exchange ? planned.exchange->nodes : 0;
    return {shortfall_of(task_, planned.plan.layout), time, nodes, used->arena};
  }

  // The load of a sequence stands for what dataflow needs: the higher its limit, the faster the kernels.
  Result<void> bisect() {
    Bytes low = plans_.lightest->placed.schedule.load;
    Bytes high = plans_.fastest.placed.schedule.load;
    for (int round = 0; round < kMostDataflowExchanges && low <= high; ++round) {
      const Bytes limit = round == 0 ? low : low + Bytes((high - low).count() / 2);
      LOWTIDE_TRY(const std::optional<Sequence> made, exchange_down_to(task_, plans_, *plans_.lightest, limit));
      if (!made) return {};
      LOWTIDE_TRY(const bool fits, add(*made));
      const Bytes load = made->placed.schedule.load;
      if (!fits && load <= low) return {};
      if (fits) {
        low = limit + Bytes(1);
      } else {
        high = load - Bytes(1);
      }
    }
    return {};
  }

  const Task& task_;
  const Alternatives& plans_;
  std::optional<PlannedGraph> best_;
};

}  // namespace

Result<PlannedGraph> choose_parallel(const Task& task, const Alternatives& plans, PlannedGraph chosen) {
  LOWTIDE_TRY(std::optional<PlannedGraph> best, ParallelChoice(task, plans).run());
  if (!best) return chosen;
  best->region_proof = std::move(chosen.region_proof);
  return *std::move(best);
}

}  // namespace lowtide::pipeline_internal
