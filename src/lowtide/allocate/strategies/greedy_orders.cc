// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/greedy_orders.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/allocate/greedy/greedy_allocator.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/base/parallel.h"

namespace lowtide::allocate_internal {
namespace {

struct GreedyOrder {
  std::string_view name;
  std::vector<PackingId> (*order)(const CompressedProblem&);
  FitRule rule;
};

// The lowest range comes before the tightest one, because it wins more often on hard problems. The first two orders win
// most often of all, and a problem with many pairs may leave no effort for more than two.
constexpr std::array<GreedyOrder, 9> kOrders = {{
    {"greedy_by_breadth_last_end_tightest", greedy_by_breadth_last_end, FitRule::tightest},
    {"greedy_by_size", greedy_by_size, FitRule::lowest},
    {"greedy_by_breadth", greedy_by_breadth, FitRule::lowest},
    {"greedy_by_size_tightest", greedy_by_size, FitRule::tightest},
    {"greedy_by_breadth_tightest", greedy_by_breadth, FitRule::tightest},
    {"greedy_by_lifespan", greedy_by_lifespan, FitRule::lowest},
    {"greedy_by_lifespan_tightest", greedy_by_lifespan, FitRule::tightest},
    {"greedy_by_area", greedy_by_area, FitRule::lowest},
    {"greedy_by_area_tightest", greedy_by_area, FitRule::tightest},
}};

// Used if a relation replaces time. greedy_by_size is missing because it gives the first answer then.
constexpr std::array<GreedyOrder, 3> kOrdersWithoutTime = {{
    {"greedy_by_neighbours", greedy_by_neighbours, FitRule::lowest},
    {"greedy_by_size_tightest", greedy_by_size, FitRule::tightest},
    {"greedy_by_neighbours_tightest", greedy_by_neighbours, FitRule::tightest},
}};

std::span<const GreedyOrder> orders_for(const CompressedProblem& problem) {
  if (problem.times.empty()) return kOrdersWithoutTime;
  return kOrders;
}

class GreedyOrders final : public Strategy {
 public:
  explicit GreedyOrders(StrategyContext& context) : context_(context), orders_(orders_for(context.problem)) {}

  // The answer is the same as if the orders ran one after another until one of them meets the stopping rule. With
  // several threads, the results of later orders are discarded.
  void run(std::int64_t limit) override {
    const auto most = static_cast<std::size_t>(limit / std::max<std::int64_t>(context_.pairs, 1));
    const std::size_t count = std::min(std::max<std::size_t>(most, 1), orders_.size() - next_);
    const std::size_t at_once = context_.threads > 1 ? count : 1;
    for (std::size_t done = 0; done < count && !context_.is_over(); done += at_once) run_at_once(at_once);
  }

 private:
  void run_at_once(std::size_t count) {
    std::vector<std::optional<Placements>> found(count);
    std::vector<Effort> efforts(count, context_.effort.share(context_.effort.limit));
    for_each_in_parallel(count, context_.threads, [&](std::size_t at) {
      const GreedyOrder& order = orders_[next_ + at];
      GreedyAllocator allocator(context_.problem, context_.graph());
      found[at] = allocate_in_order(allocator, order.order(context_.problem), order.rule, efforts[at]);
    });
    for (std::size_t at = 0; at < count && !context_.is_over(); ++at) {
      const std::string_view name = orders_[next_++].name;
      const bool is_cut = !found[at] || efforts[at].spent > context_.effort.left();
      context_.effort.spend(efforts[at].spent);
      if (!is_cut) context_.best.offer(*std::move(found[at]), name);
    }
  }

  StrategyContext& context_;
  std::span<const GreedyOrder> orders_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_greedy_orders(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  return std::make_unique<GreedyOrders>(context);
}

}  // namespace lowtide::allocate_internal
