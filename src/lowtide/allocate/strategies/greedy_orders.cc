// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/greedy_orders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/allocate/greedy/greedy_allocator.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/parallel.h"

namespace lowtide::allocate_internal {
namespace {

enum class Turn : std::uint8_t {
  early,
  late,  // if there is an exact search, the searches come first; otherwise the same as `early`
};

struct GreedyOrder {
  std::string_view name;
  std::vector<PackingId> (*order)(const CompressedProblem&);
  FitRule rule;
  Turn turn = Turn::early;
};

// For orders with both rules, the lowest range comes before the tightest one, because it wins more often on hard
// problems. The first row wins most often, and a problem with many pairs may leave no effort for the others.
constexpr std::array<GreedyOrder, 12> kOrders = {{
    {"greedy_by_breadth_last_end_tightest", greedy_by_breadth_last_end, FitRule::tightest},
    {"greedy_by_breadth_first_end_tightest", greedy_by_breadth_first_end, FitRule::tightest, Turn::late},
    {"greedy_by_breadth_first_begin_tightest", greedy_by_breadth_first_begin, FitRule::tightest, Turn::late},
    {"greedy_outwards", greedy_outwards, FitRule::lowest, Turn::late},
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

std::vector<GreedyOrder> orders_for(const StrategyContext& context) {
  if (!context.problem.has_time()) return {kOrdersWithoutTime.begin(), kOrdersWithoutTime.end()};
  std::vector<GreedyOrder> orders(kOrders.begin(), kOrders.end());
  if (context.descent) {
    std::stable_partition(orders.begin(), orders.end(),
                          [](const GreedyOrder& order) { return order.turn == Turn::early; });
  } else {
    for (GreedyOrder& order : orders) order.turn = Turn::early;
  }
  return orders;
}

class GreedyOrders final : public Strategy {
 public:
  GreedyOrders(StrategyContext& context, std::vector<GreedyOrder> orders)
      : context_(context), orders_(std::move(orders)) {}

  // The answer is the same as if the orders ran one after another. With several threads, the next orders run ahead.
  void run(std::int64_t limit) override {
    const std::int64_t last = context_.effort.spent + limit;
    const bool is_early = limit < tuning::kGreedyLateLimit;
    while (used_ < orders_.size() && !(is_early && orders_[used_].turn == Turn::late)) {
      if (ahead_.empty()) run_ahead();
      use(std::move(ahead_.front()));
      ahead_.pop_front();
      if (context_.is_over() || context_.effort.spent >= last) return;
    }
  }

 private:
  struct Found {
    std::optional<Placements> placements;  // nullopt if the effort ended first
    std::int64_t spent = 0;
  };

  void run_ahead() {
    ahead_.resize(std::min(static_cast<std::size_t>(context_.threads), orders_.size() - used_));
    for_each_in_parallel(ahead_.size(), context_.threads, [&](std::size_t at) {
      const GreedyOrder& order = orders_[used_ + at];
      Effort effort = context_.effort.share(context_.effort.limit);
      GreedyAllocator allocator(context_.problem, context_.relation());
      ahead_[at] = {allocate_in_order(allocator, order.order(context_.problem), order.rule, effort), effort.spent};
    });
  }

  void use(Found found) {
    const std::string_view name = orders_[used_++].name;
    const bool is_cut = !found.placements || found.spent > context_.effort.left();
    context_.effort.spend(found.spent);
    if (!is_cut) context_.best.offer(*std::move(found.placements), name);
  }

  StrategyContext& context_;
  std::vector<GreedyOrder> orders_;
  std::size_t used_ = 0;
  std::deque<Found> ahead_;  // of the orders from `used_` on
};

}  // namespace

std::unique_ptr<Strategy> make_greedy_orders(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  std::vector<GreedyOrder> orders = orders_for(context);
  if (context.is_large()) orders.erase(orders.begin());  // make_first_greedy_order has it
  return std::make_unique<GreedyOrders>(context, std::move(orders));
}

std::unique_ptr<Strategy> make_first_greedy_order(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  return std::make_unique<GreedyOrders>(context, std::vector<GreedyOrder>{kOrders.front()});
}

}  // namespace lowtide::allocate_internal
