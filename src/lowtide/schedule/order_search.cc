// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/order_search.h"

#include <algorithm>
#include <numeric>

#include "lowtide/schedule/downset_search.h"

namespace lowtide {
namespace {

using Index = OrderProblem::Index;

constexpr std::int64_t kFirstTurn = 1'000'000;
constexpr std::int64_t kLargestDivisor = 32;

std::vector<Index> turned(std::vector<Index> order) {
  std::reverse(order.begin(), order.end());
  for (Index& node : order) node = static_cast<Index>(order.size()) - 1 - node;
  return order;
}

// Two searches on one problem, from either end.
class BothWays {
 public:
  BothWays(const OrderProblem& problem, const OrderProblem& backwards, std::int64_t level)
      : backward_(backwards, level), forward_(problem, level) {}

  // By turns that double, until one ends.
  void run(std::int64_t work, std::int64_t limit) {
    for (std::int64_t turn = kFirstTurn; !is_over(limit) && this->work() < work; turn *= 2) {
      backward_.run(std::min(turn, work - this->work()), limit);
      if (!is_over(limit)) forward_.run(std::min(turn, std::max<std::int64_t>(work - this->work(), 0)), limit);
    }
  }
  [[nodiscard]] bool is_solved() const { return backward_.is_solved() || forward_.is_solved(); }
  [[nodiscard]] std::int64_t bound() const { return std::max(backward_.bound(), forward_.bound()); }
  [[nodiscard]] std::int64_t work() const { return backward_.work() + forward_.work(); }
  [[nodiscard]] std::int64_t sets() const { return backward_.sets() + forward_.sets(); }
  [[nodiscard]] std::vector<Index> order() const {
    return backward_.is_solved() ? turned(backward_.order()) : forward_.order();
  }

 private:
  [[nodiscard]] bool is_over(std::int64_t limit) const { return is_solved() || bound() >= limit; }

  DownsetSearch backward_;
  DownsetSearch forward_;
};

// One part: its order, peak and bound, all in the part's own numbers.
class PartSearch {
 public:
  PartSearch(const OrderProblem& problem, std::int64_t bound)
      : problem_(problem), backwards_(reversed(problem)), found_{.order = std::vector<Index>(problem.nodes.size())} {
    std::iota(found_.order.begin(), found_.order.end(), Index{0});
    found_.peak = peak_of(problem, found_.order);
    found_.bound = std::min(bound, found_.peak);
  }

  // Nothing below `bound` is of use, since another part needs as much; nor is anything that does not get below `limit`.
  FoundOrder run(std::int64_t bound, std::int64_t limit, std::int64_t work) && {
    if (found_.peak <= bound) return found_;
    from_below(std::max(bound, found_.bound), limit, work / 2);
    if (found_.peak > found_.bound && found_.bound < limit) from_above(work - work / 2);
    return std::move(found_);
  }

 private:
  void from_below(std::int64_t level, std::int64_t limit, std::int64_t work) {
    BothWays search(problem_, backwards_, level);
    search.run(work, std::min(limit, found_.peak));
    found_.bound = std::max(found_.bound, search.bound());
    found_.sets += search.sets();
    if (search.is_solved()) take(search);
  }

  void from_above(std::int64_t work) {
    std::int64_t divisor = 2;
    std::int64_t turn = work / 16;
    while (work > 0 && found_.peak > found_.bound) {
      const std::int64_t drop = std::max<std::int64_t>((found_.peak - found_.bound) / divisor, 1);
      BothWays search(problem_, backwards_, found_.peak - drop);
      search.run(std::min(turn, work), found_.peak - drop + 1);
      work -= std::max(search.work(), turn / 16 + 1);
      found_.sets += search.sets();
      if (search.is_solved()) {
        take(search);
        divisor = std::max<std::int64_t>(divisor / 2, 2);
      } else if (search.bound() > found_.peak - drop) {
        found_.bound = search.bound();  // all within the level was looked at
      } else {
        divisor *= 2;
        if (divisor > kLargestDivisor) {
          divisor = 2;
          turn *= 2;
        }
      }
    }
  }

  void take(const BothWays& search) {
    std::vector<Index> order = search.order();
    const std::int64_t peak = peak_of(problem_, order);
    if (peak >= found_.peak) return;
    found_.peak = peak;
    found_.order = std::move(order);
  }

  const OrderProblem& problem_;
  OrderProblem backwards_;
  FoundOrder found_;
};

}  // namespace

FoundOrder search_order(const OrderProblem& problem, const OrderSearchOptions& options) {
  const std::vector<OrderPart> parts = parts_of(problem);
  FoundOrder whole{.peak = problem.base, .bound = std::max(options.bound, problem.base)};
  std::int64_t nodes_left = static_cast<std::int64_t>(problem.nodes.size());
  std::int64_t work_left = options.work;
  for (const OrderPart& part : parts) {
    const auto nodes = static_cast<std::int64_t>(part.nodes.size());
    const std::int64_t share = work_left / nodes_left * nodes;
    const FoundOrder found = PartSearch(part.problem, 0).run(whole.bound, options.limit, share);
    whole.bound = std::max(whole.bound, found.bound);
    whole.peak = std::max(whole.peak, found.peak);
    whole.sets += found.sets;
    for (Index node : found.order) whole.order.push_back(part.nodes[node]);
    work_left -= share;
    nodes_left -= nodes;
  }
  return whole;
}

}  // namespace lowtide
