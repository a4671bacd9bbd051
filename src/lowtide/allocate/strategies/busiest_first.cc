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
    out.fixed.push_back({id, placements.offsets[id]});
  }
  std::sort(out.fixed.begin(), out.fixed.end());
  std::erase_if(out.movable, [&](PackingId id) { return is_busy.test(id); });
  return out;
}

// The buffers that are live at a moment whose load is below the target by at most a share of it.
class BusyBuffers {
 public:
  explicit BusyBuffers(const StrategyContext& context)
      : problem_(context.problem), target_(context.stopping.target()), load_(load_profile(problem_)) {}

  // Empty if they are half of the buffers or more, or if a relation replaces time.
  [[nodiscard]] std::vector<PackingId> of(std::int64_t share) const {
    std::vector<Moment> busy_before(load_.size() + 1, 0);  // the number of such moments before each moment
    for (std::size_t at = 0; at < load_.size(); ++at) {
      busy_before[at + 1] = busy_before[at] + (load_[at] >= target_ - target_ / share ? 1 : 0);
    }
    std::vector<PackingId> busy;
    if (load_.empty()) return busy;
    std::copy_if(problem_.movable.begin(), problem_.movable.end(), std::back_inserter(busy), [&](PackingId id) {
      const std::span<const MomentSpan> spans = problem_.spans_of(id);
      return std::any_of(spans.begin(), spans.end(),
                         [&](const MomentSpan& span) { return busy_before[span.end] > busy_before[span.begin]; });
    });
    if (busy.size() >= problem_.movable.size() / 2) busy.clear();
    return busy;
  }

 private:
  const CompressedProblem& problem_;
  std::int64_t target_;
  std::vector<std::int64_t> load_;
};

// Assigns the other buffers in the order that ends lowest. Returns nullopt if the effort ends before the first order.
std::optional<Incumbent> with_others(const StrategyContext& context, const CompressedProblem& others,
                                     std::span<const Order> orders) {
  std::optional<Incumbent> best;
  for (const Order order : orders) {
    GreedyAllocator allocator(others);
    std::optional<Placements> found = allocate_in_order(allocator, order(others), FitRule::tightest, context.effort);
    if (!found) break;
    if (!best) {
      best.emplace(*std::move(found), kBusiestFirst);
    } else {
      best->offer(*std::move(found), kBusiestFirst);
    }
  }
  return best;
}

class BusiestFirst final : public Strategy {
 public:
  BusiestFirst(StrategyContext& context, std::span<const StrategyRow> rows)
      : context_(context), problem_(context.problem) {
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(other_rows_), [](const StrategyRow& row) {
      return row.make != make_busiest_first && row.make != make_busiest_search;
    });
  }

  // Tries the next set of busy buffers.
  void run(std::int64_t limit) override {
    if (!std::exchange(is_divided_, true)) divide();
    if (busy_.empty()) return;
    const std::vector<PackingId>& busy = busy_[next_++ % busy_.size()];
    const std::optional<CompressedProblem> others = pack_busy(busy, limit);
    if (others) add_others(*others, limit);
  }

 private:
  // Returns the problem with the busy buffers at fixed offsets. Returns nullopt if they are as high as the best answer.
  std::optional<CompressedProblem> pack_busy(const std::vector<PackingId>& busy, std::int64_t limit) {
    const CompressedProblem problem = busy_of(problem_, busy);
    Effort share = context_.effort.share(limit / tuning::kBusiestFirstPartShare);
    // Packing the busy buffers lower than the target would not help.
    StoppingRule stopping = context_.stopping;
    Incumbent found(best_fit(problem, share), kBusiestFirst);
    StrategyContext inner{
        .problem = problem, .stopping = stopping, .best = found, .effort = share, .threads = context_.threads};
    run_portfolio(inner, other_rows_);
    context_.effort.spend(share.spent);
    if (found.height() >= context_.best.height()) return std::nullopt;
    return others_of(problem_, busy, found.placements());
  }

  void divide() {
    const BusyBuffers busy_buffers(context_);
    for (const std::int64_t share : tuning::kBusiestFirstShares) {
      std::vector<PackingId> busy = busy_buffers.of(share);
      if (!busy.empty()) busy_.push_back(std::move(busy));
    }
  }

  // `others` has the busy buffers at fixed offsets.
  void add_others(const CompressedProblem& others, std::int64_t limit) {
    std::optional<Incumbent> best = with_others(context_, others, kOtherOrders);
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

class BusiestSearch final : public Strategy {
 public:
  explicit BusiestSearch(StrategyContext& context) : context_(context) {}

  void run(std::int64_t limit) override {
    if (context_.problem.movable.size() > tuning::kBusiestSearchMostBuffers) return;
    const BusyBuffers busy_buffers(context_);
    std::vector<PackingId> packed;
    std::optional<Incumbent> packing;  // of these
    Effort share = context_.effort.share(tuning::kBusiestSearchWorkPerEffort * limit);
    share.cut *= tuning::kBusiestSearchWorkPerEffort;
    for (const std::int64_t one : tuning::kBusiestSearchShares) {
      std::vector<PackingId> busy = busy_buffers.of(one);
      if (busy.empty() || busy == packed) continue;
      std::optional<Incumbent> found = search(busy_of(context_.problem, busy), share);
      if (!found) break;
      packed = std::move(busy);
      packing = std::move(found);
    }
    context_.effort.spend(share.spent / tuning::kBusiestSearchWorkPerEffort + 1);
    if (!packing) return;
    const CompressedProblem others = others_of(context_.problem, packed, packing->placements());
    std::optional<Incumbent> best = with_others(context_, others, std::span(kOtherOrders).first(1));
    if (best) context_.best.offer(best->placements(), kBusiestFirst);
  }

 private:
  // Returns a packing of the busy buffers that ends at or below the target. Returns nullopt if the search finds none.
  std::optional<Incumbent> search(const CompressedProblem& busy, Effort& effort) {
    StoppingRule stopping = context_.stopping;
    Incumbent found(best_fit(busy, effort), kBusiestFirst);
    StrategyContext inner{
        .problem = busy, .stopping = stopping, .best = found, .effort = effort, .threads = context_.threads};
    inner.prepare();
    if (inner.descent) inner.search_target(&*inner.descent, effort.left());
    if (!stopping.stops_at(found.height())) return std::nullopt;
    return found;
  }

  StrategyContext& context_;
};

}  // namespace

std::unique_ptr<Strategy> make_busiest_first(StrategyContext& context, std::span<const StrategyRow> rows) {
  return std::make_unique<BusiestFirst>(context, rows);
}

std::unique_ptr<Strategy> make_busiest_search(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  return std::make_unique<BusiestSearch>(context);
}

}  // namespace lowtide::allocate_internal
