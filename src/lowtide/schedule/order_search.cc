// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/order_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lowtide/schedule/downset_search.h"
#include "lowtide/schedule/order_contraction.h"

namespace lowtide {
namespace {

using Index = OrderProblem::Index;

constexpr std::int64_t kFirstTurn = 1'000'000;
constexpr std::int64_t kLargestDivisor = 32;
constexpr std::int64_t kTolerated = 1000;  // a thousandth of the peak may be overlooked in an easier problem

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
    if (!backward_.is_solved()) return forward_.order();
    std::vector<Index> order = backward_.order();
    std::reverse(order.begin(), order.end());
    for (Index& node : order) node = static_cast<Index>(order.size()) - 1 - node;
    return order;
  }

 private:
  [[nodiscard]] bool is_over(std::int64_t limit) const { return is_solved() || bound() >= limit; }

  DownsetSearch backward_;
  DownsetSearch forward_;
};

// A problem, and the same read backwards.
struct BothProblems {
  explicit BothProblems(OrderProblem problem) : forward(std::move(problem)), backward(reversed(forward)) {}

  OrderProblem forward;
  OrderProblem backward;
};

// One part: its order, peak and bound. Orders are those of the steps' origins.
class PartSearch {
 public:
  explicit PartSearch(const OrderProblem& problem) : exact_(problem) {
    std::vector<Index> given(problem.nodes.size());
    std::iota(given.begin(), given.end(), Index{0});
    found_.peak = peak_of(problem, given);
    found_.order = origins_of(problem, given);
  }

  // Nothing below `bound` is of use, since another part needs as much; nor is anything that does not get below `limit`.
  FoundOrder run(std::int64_t bound, std::int64_t limit, std::int64_t work) && {
    if (found_.peak <= bound) return found_;
    found_.bound = bound;
    const BothProblems easier(contracted(exact_.forward, found_.peak / kTolerated));
    if (easier.forward.nodes.size() < exact_.forward.nodes.size()) {
      from_below(easier, limit, work / 3);
    }
    if (!is_over(limit)) from_below(exact_, limit, (work - found_.work) / 2);
    if (!is_over(limit)) from_above(exact_, work - found_.work);
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_over(std::int64_t limit) const { return found_.peak <= found_.bound || found_.bound >= limit; }

  static std::vector<Index> origins_of(const OrderProblem& problem, const std::vector<Index>& order) {
    std::vector<Index> origins;
    for (Index node : order) {
      for (const OrderProblem::Step& step : problem.nodes[node].steps) origins.push_back(step.origin);
    }
    return origins;
  }

  void from_below(const BothProblems& problem, std::int64_t limit, std::int64_t work) {
    BothWays search(problem.forward, problem.backward, found_.bound);
    search.run(work, std::min(limit, found_.peak));
    found_.bound = std::max(found_.bound, search.bound());
    found_.sets += search.sets();
    found_.work += search.work();
    if (search.is_solved()) take(problem.forward, search);
  }

  void from_above(const BothProblems& problem, std::int64_t work) {
    std::int64_t divisor = 2;
    std::int64_t turn = work / 16;
    while (work > 0 && found_.peak > found_.bound) {
      const std::int64_t drop = std::max<std::int64_t>((found_.peak - found_.bound) / divisor, 1);
      BothWays search(problem.forward, problem.backward, found_.peak - drop);
      search.run(std::min(turn, work), found_.peak - drop + 1);
      work -= std::max(search.work(), turn / 16 + 1);
      found_.work += search.work();
      found_.sets += search.sets();
      if (search.is_solved()) {
        take(problem.forward, search);
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

  void take(const OrderProblem& problem, const BothWays& search) {
    const std::vector<Index> order = search.order();
    const std::int64_t peak = peak_of(all_counted(problem), order);
    if (peak >= found_.peak) return;
    found_.peak = peak;
    found_.order = origins_of(problem, order);
  }

  BothProblems exact_;
  FoundOrder found_;
};

}  // namespace

FoundOrder search_order(const OrderProblem& problem, const OrderSearchOptions& options) {
  OrderProblem whole = problem;
  for (Index node = 0; node < whole.nodes.size(); ++node) {
    for (OrderProblem::Step& step : whole.nodes[node].steps) step.origin = node;
  }
  const std::vector<OrderPart> parts = parts_of(contracted(whole, 0));
  std::vector<std::size_t> by_size(parts.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].nodes.size() < parts[b].nodes.size(); });
  std::int64_t nodes_left = 0;
  for (const OrderPart& part : parts) nodes_left += static_cast<std::int64_t>(part.nodes.size());
  FoundOrder found{.peak = problem.base, .bound = std::max(options.bound, problem.base)};
  std::vector<std::vector<Index>> orders(parts.size());
  for (std::size_t at : by_size) {
    const auto nodes = static_cast<std::int64_t>(parts[at].nodes.size());
    const std::int64_t share = (options.work - found.work) / nodes_left * nodes;
    FoundOrder best = PartSearch(parts[at].problem).run(found.bound, options.limit, share);
    found.bound = std::max(found.bound, best.bound);
    found.peak = std::max(found.peak, best.peak);
    found.sets += best.sets;
    found.work += best.work;
    orders[at] = std::move(best.order);
    nodes_left -= nodes;
  }
  for (const std::vector<Index>& order : orders) found.order.insert(found.order.end(), order.begin(), order.end());
  return found;
}

}  // namespace lowtide
