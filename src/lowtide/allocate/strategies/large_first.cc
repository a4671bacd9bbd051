// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/large_first.h"

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
#include "lowtide/allocate/problem/align.h"
#include "lowtide/allocate/problem/load_bound.h"
#include "lowtide/allocate/strategies/portfolio.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::string_view kName = "large_first";

struct SmallOrder {
  std::vector<PackingId> (*order)(const CompressedProblem&);
  FitRule rule;
};
constexpr std::array<SmallOrder, 3> kSmallOrders = {{
    {greedy_by_breadth_last_end, FitRule::tightest},
    {greedy_by_size, FitRule::lowest},
    {greedy_by_lifespan, FitRule::lowest},
}};

// The problem with only the fixed buffers and the large ones, of at least `threshold` bytes.
CompressedProblem large_of(const CompressedProblem& problem, std::int64_t threshold) {
  CompressedProblem large = problem;
  std::erase_if(large.movable, [&](PackingId id) { return problem.buffers[id].size < threshold; });
  return large;
}

// The problem with only the small buffers movable. The large ones are fixed, `shift` bytes above their offsets in
// `large`.
CompressedProblem small_of(const CompressedProblem& problem, std::int64_t threshold, const Placements& large,
                           std::int64_t shift) {
  CompressedProblem small = problem;
  for (PackingId id : problem.movable) {
    if (problem.buffers[id].size < threshold) continue;
    small.fixed.push_back({id, large.offsets[id] + shift});
  }
  std::erase_if(small.movable, [&](PackingId id) { return problem.buffers[id].size >= threshold; });
  std::sort(small.fixed.begin(), small.fixed.end());
  return small;
}

// The bytes by which all large buffers can be pushed up together. 0 if a buffer is fixed.
std::int64_t space_below(const CompressedProblem& large, std::int64_t height, std::int64_t target) {
  if (!large.fixed.empty() || height >= target) return 0;
  std::int64_t alignment = 1;
  for (PackingId id : large.movable) alignment = std::max(alignment, large.buffers[id].alignment());
  return aligned_down(target - height, alignment);
}

class LargeFirst final : public Strategy {
 public:
  LargeFirst(StrategyContext& context, std::span<const StrategyRow> rows)
      : context_(context), problem_(context.problem) {
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(others_),
                 [](const StrategyRow& row) { return row.make != make_large_first; });
  }

  // Tries the next division into large and small buffers.
  void run(std::int64_t limit) override {
    divide();
    if (divisions_.empty()) return;
    Division& division = divisions_[next_++ % divisions_.size()];
    if (division.is_done) return;

    const CompressedProblem large = large_of(problem_, division.threshold);
    // The bound counts the small buffers, too. Packing the large ones lower than that would not help.
    StoppingRule stopping(large, height_bound(large).height, std::nullopt);
    Effort share = context_.effort.share(limit / tuning::kLargeFirstInnerShare);
    Incumbent found(best_fit(large, share), kName);
    StrategyContext inner{
        .problem = large, .stopping = stopping, .best = found, .effort = share, .threads = context_.threads};
    run_portfolio(inner, others_);
    context_.effort.spend(share.spent);
    division.is_done = stopping.stops_at(found.height());

    // First with the large buffers pushed up, then where they are.
    const std::int64_t shift = space_below(large, found.height(), context_.stopping.target());
    if (!may_improve(found.height() + shift)) return;
    add_small(small_of(problem_, division.threshold, found.placements(), shift));
    if (shift == 0 || !may_improve(found.height())) return;
    add_small(small_of(problem_, division.threshold, found.placements(), 0));
  }

 private:
  struct Division {
    std::int64_t threshold = 0;  // sizes below are small
    bool is_done = false;        // more effort would change nothing
  };

  [[nodiscard]] bool is_over() const { return context_.stopping.stops_at(context_.best.height()); }
  [[nodiscard]] bool may_improve(std::int64_t height) const { return !is_over() && height < context_.best.height(); }
  void divide();
  [[nodiscard]] std::int64_t threshold_for(std::int64_t most) const;
  [[nodiscard]] std::int64_t load_below(std::int64_t threshold) const;
  void add_small(const CompressedProblem& small);

  StrategyContext& context_;
  const CompressedProblem& problem_;
  std::vector<StrategyRow> others_;
  bool is_divided_ = false;
  std::vector<Division> divisions_;
  std::size_t next_ = 0;
};

void LargeFirst::divide() {
  if (std::exchange(is_divided_, true)) return;
  if (!problem_.has_time() || problem_.movable.size() > tuning::kLargeFirstMostBuffers) return;
  for (const std::int64_t share : tuning::kLargeFirstShares) {
    const std::int64_t threshold = threshold_for(context_.stopping.target() / share);
    const bool is_new = std::none_of(divisions_.begin(), divisions_.end(),
                                     [&](const Division& division) { return division.threshold == threshold; });
    if (threshold > 0 && is_new) divisions_.push_back({.threshold = threshold});
  }
}

// The largest size such that at most `most` bytes of smaller buffers are live at any moment. 0 if too few are smaller.
std::int64_t LargeFirst::threshold_for(std::int64_t most) const {
  std::vector<std::int64_t> all;
  all.reserve(problem_.movable.size());
  for (PackingId id : problem_.movable) all.push_back(problem_.buffers[id].size);
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> sizes = all;
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const auto above =
      std::partition_point(sizes.begin(), sizes.end(), [&](std::int64_t size) { return load_below(size) <= most; });
  if (above == sizes.begin()) return 0;
  const std::int64_t threshold = *std::prev(above);
  const auto small = std::lower_bound(all.begin(), all.end(), threshold) - all.begin();
  return small > 0 && static_cast<std::size_t>(small) >= all.size() / tuning::kLargeFirstLeastShare ? threshold : 0;
}

std::int64_t LargeFirst::load_below(std::int64_t threshold) const {
  std::vector<std::int64_t> change(problem_.moments() + 1, 0);
  for (PackingId id : problem_.movable) {
    const std::int64_t size = problem_.buffers[id].size;
    if (size >= threshold) continue;
    for (const MomentSpan& span : problem_.spans_of(id)) {
      change[span.begin] += size;
      change[span.end] -= size;
    }
  }
  std::int64_t load = 0;
  std::int64_t largest = 0;
  for (const std::int64_t delta : change) largest = std::max(largest, load += delta);
  return largest;
}

void LargeFirst::add_small(const CompressedProblem& small) {
  for (const SmallOrder& strategy : kSmallOrders) {
    if (is_over()) return;
    GreedyAllocator allocator(small);
    std::optional<Placements> found =
        allocate_in_order(allocator, strategy.order(small), strategy.rule, context_.effort);
    if (!found) return;
    context_.best.offer(*std::move(found), kName);
  }
}

}  // namespace

std::unique_ptr<Strategy> make_large_first(StrategyContext& context, std::span<const StrategyRow> rows) {
  return std::make_unique<LargeFirst>(context, rows);
}

}  // namespace lowtide::allocate_internal
