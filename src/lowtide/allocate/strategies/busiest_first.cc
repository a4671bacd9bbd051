// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/busiest_first.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/allocate/greedy/best_fit.h"
#include "lowtide/allocate/greedy/greedy_allocator.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/improve/ejection.h"
#include "lowtide/allocate/problem/load_bound.h"
#include "lowtide/allocate/strategies/portfolio.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::string_view kBusiestFirst = "busiest_first";

using Order = std::vector<PackingId> (*)(const CompressedProblem&);
constexpr std::array<Order, 3> kOtherOrders = {greedy_by_breadth_last_end, greedy_by_breadth_first_begin,
                                               greedy_by_area};

// The problem with only these buffers movable.
CompressedProblem busy_of(const CompressedProblem& problem, const std::vector<PackingId>& busy) {
  CompressedProblem out = problem;
  out.movable = busy;
  return out;
}

// The problem with only the other buffers movable. The busy ones are fixed at these offsets.
CompressedProblem others_of(const CompressedProblem& problem, const std::vector<PackingId>& busy,
                            const Placements& placements) {
  CompressedProblem out = problem;
  Flags<PackingId> is_busy(problem.buffers.size());
  for (PackingId id : busy) {
    is_busy.set(id);
    out.buffers[id].fixed_offset = placements.offsets[id];
    out.fixed.push_back(id);
  }
  std::sort(out.fixed.begin(), out.fixed.end());
  std::erase_if(out.movable, [&](PackingId id) { return is_busy.test(id); });
  return out;
}

class BusiestFirst final : public Strategy {
 public:
  BusiestFirst(StrategyContext& context, std::span<const StrategyRow> rows)
      : context_(context), problem_(context.problem) {
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(other_rows_),
                 [](const StrategyRow& row) { return row.make != make_busiest_first; });
  }

  // Tries the next set of busy buffers.
  void run(std::int64_t limit) override {
    if (!std::exchange(is_divided_, true)) divide();
    if (busy_.empty()) return;
    const std::vector<PackingId>& busy = busy_[next_++ % busy_.size()];
    const CompressedProblem problem = busy_of(problem_, busy);
    Effort share = context_.effort.share(limit / tuning::kBusiestFirstPartShare);
    // Packing the busy buffers lower than the target would not help.
    StoppingRule stopping = context_.stopping;
    Incumbent found(best_fit(problem, share), kBusiestFirst);
    StrategyContext inner{
        .problem = problem, .stopping = stopping, .best = found, .effort = share, .threads = context_.threads};
    run_portfolio(inner, other_rows_);
    context_.effort.spend(share.spent);
    if (found.height() < context_.best.height()) add_others(others_of(problem_, busy, found.placements()), limit);
  }

 private:
  void divide() {
    if (problem_.times.empty()) return;
    const std::vector<std::int64_t> load = load_profile(problem_);
    for (const std::int64_t share : tuning::kBusiestFirstShares) {
      const std::int64_t least = context_.stopping.target() - context_.stopping.target() / share;
      std::vector<PackingId> busy = live_above(load, least);
      if (!busy.empty() && busy.size() < problem_.movable.size() / 2) busy_.push_back(std::move(busy));
    }
  }

  // The movable buffers that are live at a moment with a load of at least `least`.
  [[nodiscard]] std::vector<PackingId> live_above(const std::vector<std::int64_t>& load, std::int64_t least) const {
    std::vector<Moment> busy_before(load.size() + 1, 0);  // the number of such moments before each moment
    for (std::size_t at = 0; at < load.size(); ++at)
      busy_before[at + 1] = busy_before[at] + (load[at] >= least ? 1 : 0);
    std::vector<PackingId> busy;
    std::copy_if(problem_.movable.begin(), problem_.movable.end(), std::back_inserter(busy), [&](PackingId id) {
      const std::span<const MomentSpan> spans = problem_.spans_of(id);
      return std::any_of(spans.begin(), spans.end(),
                         [&](const MomentSpan& span) { return busy_before[span.end] > busy_before[span.begin]; });
    });
    return busy;
  }

  // `others` has the busy buffers at fixed offsets.
  void add_others(const CompressedProblem& others, std::int64_t limit) {
    std::optional<Incumbent> best;
    for (const Order order : kOtherOrders) {
      GreedyAllocator allocator(others);
      std::optional<Placements> found = allocate_in_order(allocator, order(others), FitRule::tightest, context_.effort);
      if (!found) break;
      if (!best) {
        best.emplace(*std::move(found), kBusiestFirst);
      } else {
        best->offer(*std::move(found), kBusiestFirst);
      }
    }
    if (!best) return;
    if (!context_.stopping.stops_at(best->height())) {
      Effort share = context_.effort.share(limit / tuning::kBusiestFirstPartShare);
      const EjectionOptions options{.bound = context_.stopping.target(), .seed = next_};
      (void)lower_by_ejection(problem_, context_.graph(), options, *best, share);
      context_.effort.spend(share.spent);
    }
    context_.best.offer(best->placements(), kBusiestFirst);
  }

  StrategyContext& context_;
  const CompressedProblem& problem_;
  std::vector<StrategyRow> other_rows_;
  bool is_divided_ = false;
  std::vector<std::vector<PackingId>> busy_;  // for each share in tuning.h that divides the problem
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_busiest_first(StrategyContext& context, std::span<const StrategyRow> rows) {
  return std::make_unique<BusiestFirst>(context, rows);
}

}  // namespace lowtide::allocate_internal
