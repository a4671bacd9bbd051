// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/order_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lowtide/schedule/orders/cut_bound.h"
#include "lowtide/schedule/orders/downset_search.h"
#include "lowtide/schedule/orders/order_contraction.h"
#include "lowtide/schedule/orders/order_state.h"

namespace lowtide::schedule_internal {
namespace {

using Index = OrderProblem::Index;

constexpr std::int64_t kFirstSlice = 1'000'000;
constexpr std::int64_t kLargestDivisor = 32;
constexpr std::int64_t kStrides = 16;      // from the bound to the best
constexpr std::int64_t kSlices = 16;       // of the work that is left, for the search from above
constexpr std::int64_t kBehind = 4;        // the search with the lower bound gets 1 / kBehind of a slice
constexpr std::int64_t kTolerated = 1000;  // 1 / kTolerated of the peak may be ignored in an easier problem

// A problem, and the same with all edges reversed.
struct BothProblems {
  explicit BothProblems(OrderProblem problem) : forward(std::move(problem)), backward(reversed(forward)) {}

  OrderProblem forward;
  OrderProblem backward;
};

// Which of two searches has the higher bound.
enum class Ahead : std::uint8_t { neither, backward, forward };

// Two searches on one problem, from either end.
class BothWays {
 public:
  // `options`: for each search. `ahead`: the answer while their bounds are equal.
  BothWays(const BothProblems& problem, std::int64_t level, const DownsetSearch::Options& options, Ahead ahead)
      : ahead_(ahead), backward_(problem.backward, level, options), forward_(problem.forward, level, options) {}

  // Runs both in slices that double, until one ends or both are full.
  void run(std::int64_t work, std::int64_t limit) {
    const auto left = [&] { return std::max<std::int64_t>(work - this->work(), 0); };
    for (std::int64_t slice = kFirstSlice; !is_over(limit) && !is_full() && left() > 0; slice *= 2) {
      backward_.run(std::min(ahead() == Ahead::forward ? slice / kBehind : slice, left()), limit);
      if (!is_over(limit)) forward_.run(std::min(ahead() == Ahead::backward ? slice / kBehind : slice, left()), limit);
    }
  }
  // The one whose bound is higher.
  [[nodiscard]] Ahead ahead() const {
    if (backward_.bound() == forward_.bound()) return ahead_;
    return backward_.bound() > forward_.bound() ? Ahead::backward : Ahead::forward;
  }
  [[nodiscard]] bool is_solved() const { return backward_.is_solved() || forward_.is_solved(); }
  [[nodiscard]] bool is_full() const { return backward_.is_full() && forward_.is_full(); }
  // Whether the search ended before its work did.
  [[nodiscard]] bool has_ended(std::int64_t limit) const { return is_over(limit) || is_full(); }
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

  Ahead ahead_;
  DownsetSearch backward_;
  DownsetSearch forward_;
};

// Searches one subproblem. Orders are given by the origins of the steps.
class SubproblemSearch {
 public:
  explicit SubproblemSearch(const OrderProblem& problem) : exact_(problem) {
    std::vector<Index> given(problem.nodes.size());
    std::iota(given.begin(), given.end(), Index{0});
    found_.peak = peak_of(problem, given);
    found_.order = origins_of(problem, given);
  }

  // A peak below the bound is of no use, because another subproblem needs at least the bound. The same holds for a
  // peak that is not below the limit.
  FoundOrder run(const OrderSearchOptions& options) && {
    found_.is_final = true;
    if (found_.peak <= options.bound) return found_;
    found_.bound = options.bound;
    const BothProblems easier(contracted(exact_.forward, found_.peak / kTolerated));
    if (easier.forward.nodes.size() < exact_.forward.nodes.size()) {
      from_below(easier, options, options.work / 3);
    }
    if (!is_over(options.limit)) from_below(exact_, options, (options.work - found_.work) / 2);
    if (!is_over(options.limit)) from_above(exact_, options);
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

  void from_below(const BothProblems& problem, const OrderSearchOptions& options, std::int64_t work) {
    const std::int64_t limit = std::min(options.limit, found_.peak);
    BothWays search(problem, found_.bound, {.bytes = options.bytes / 2, .stride = (limit - found_.bound) / kStrides},
                    ahead_);
    search.run(work, limit);
    found_.is_final = found_.is_final && search.has_ended(limit);
    found_.bound = std::max(found_.bound, search.bound());
    found_.sets += search.sets();
    found_.work += search.work();
    ahead_ = search.ahead();
    if (search.is_solved()) take(problem.forward, search);
  }

  void from_above(const BothProblems& problem, const OrderSearchOptions& options) {
    std::int64_t work = options.work - found_.work;
    std::int64_t divisor = 2;
    std::int64_t slice = work / kSlices;
    bool may_go_on = false;  // since `divisor` was 2, some search was not full
    const auto best = [&] { return std::min(found_.peak, options.limit); };
    while (best() > found_.bound) {
      if (work <= 0) {
        found_.is_final = false;
        return;
      }
      // The last try of a round is right below the best. If it finds none, the best is proven.
      const std::int64_t drop = divisor > kLargestDivisor ? 1 : (best() - found_.bound) / divisor;
      const std::int64_t level = best() - std::max<std::int64_t>(drop, 1);
      BothWays search(problem, level, {.bytes = options.bytes / 2}, ahead_);
      search.run(std::min(slice, work), level + 1);
      work -= std::max(search.work(), slice / 16 + 1);
      found_.work += search.work();
      found_.sets += search.sets();
      may_go_on = may_go_on || !search.is_full();
      if (search.is_solved()) {
        take(problem.forward, search);
        divisor = std::max<std::int64_t>(divisor / 2, 2);
      } else if (search.bound() > level) {
        found_.bound = search.bound();  // everything within the level was looked at
      } else {
        divisor *= 2;
        if (divisor > 2 * kLargestDivisor) {
          if (!may_go_on) return;  // the same searches would be full again
          may_go_on = false;
          divisor = 2;
          slice *= 2;
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
  Ahead ahead_ = Ahead::neither;
};

}  // namespace

OrderSearch::OrderSearch(const OrderProblem& problem) : base_(problem.base) {
  OrderProblem whole = problem;
  for (Index node = 0; node < whole.nodes.size(); ++node) {
    for (OrderProblem::Step& step : whole.nodes[node].steps) step.origin = node;
  }
  subproblems_ = subproblems_of(contracted(whole, 0));
}

FoundOrder OrderSearch::run(const OrderSearchOptions& options) const {
  std::vector<std::size_t> by_size(subproblems_.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return subproblems_[a].nodes.size() < subproblems_[b].nodes.size();
  });
  std::int64_t nodes_left = 0;
  for (const OrderSubproblem& one : subproblems_) nodes_left += static_cast<std::int64_t>(one.nodes.size());
  FoundOrder found{.peak = base_, .bound = std::max(options.bound, base_), .is_final = true};
  std::vector<std::vector<Index>> orders(subproblems_.size());
  for (std::size_t at : by_size) {
    const auto nodes = static_cast<std::int64_t>(subproblems_[at].nodes.size());
    // Contraction may leave a subproblem without nodes.
    const std::int64_t share = nodes_left == 0 ? 0 : (options.work - found.work) / nodes_left * nodes;
    FoundOrder best = SubproblemSearch(subproblems_[at].problem)
                          .run({.bound = found.bound, .limit = options.limit, .work = share, .bytes = options.bytes});
    found.bound = std::max(found.bound, best.bound);
    found.peak = std::max(found.peak, best.peak);
    found.sets += best.sets;
    found.work += best.work;
    found.is_final = found.is_final && best.is_final;
    orders[at] = std::move(best.order);
    nodes_left -= nodes;
  }
  for (const std::vector<Index>& order : orders) found.order.insert(found.order.end(), order.begin(), order.end());
  return found;
}

std::int64_t OrderSearch::raised_by_cuts(std::int64_t bound, std::int64_t work) const {
  for (const OrderSubproblem& one : subproblems_) {
    const CutBound cuts = cut_bound(one.problem, bound, work);
    bound = std::max(bound, cuts.bound);
    work = std::max<std::int64_t>(work - cuts.work, 0);
  }
  return bound;
}

FoundOrder search_order(const OrderProblem& problem, const OrderSearchOptions& options) {
  return OrderSearch(problem).run(options);
}

}  // namespace lowtide::schedule_internal
