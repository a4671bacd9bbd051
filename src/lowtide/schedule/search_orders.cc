// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/schedule/measure.h"
#include "lowtide/schedule/orders/order_problem.h"
#include "lowtide/schedule/orders/order_search.h"
#include "lowtide/schedule/schedule.h"

namespace lowtide {
namespace {

using schedule_internal::FoundOrder;
using schedule_internal::OrderProblem;
using schedule_internal::OrderSearch;
using schedule_internal::OrderSearchOptions;
using schedule_internal::Sharing;

// Work of the first phase of a search. Each later phase has kPhaseGrowth times the work of the one before.
constexpr std::int64_t kFirstPhase = 10'000'000;
constexpr std::int64_t kPhaseGrowth = 8;

// With more effort than the default, the search may use more memory too.
constexpr std::int64_t kWorkPerByte = 32;

// Coarse problems ignore values below these shares of the best load: first below 1 / 100, then below 1 / 1000.
constexpr std::array<std::int64_t, 2> kCoarseShares = {100, 1000};
// The work of a coarse problem: at most this share of the effort, and at most 0.1 s. It ends soon or not at all.
constexpr std::int64_t kCoarseWorkShare = 16;
constexpr std::int64_t kMostCoarseWork = 100'000'000;
// If the best load is then within 1 / 1000 of the bound, little remains to be gained, so the search gets at most this
// work.
constexpr std::int64_t kWorkIfNear = 1'000'000'000;

// The work of minimum cuts, as a share of the effort.
constexpr std::int64_t kCutsShare = 16;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// Whether a better order is not worth a search (ScheduleOptions::enough, near_share).
bool is_good_enough(const ScheduleOptions& options, Bytes load, Bytes bound) {
  if (load <= std::max(bound, options.enough)) return true;
  return options.near_share > 0 && (load - bound).count() <= load.count() / options.near_share;
}

// Searches problems that were made from one graph, and measures the orders that they give.
class GraphSearch {
 public:
  // `best_known`: the load of an order that is known. Only lower loads are of use.
  GraphSearch(const ScheduleInput& input, const ScheduleOptions& options, std::optional<Bytes> best_known)
      : input_(input), options_(options), best_known_(best_known), bound_(options.bound) {}

  void run() {
    const bool has_parts = shares_in_part();
    const std::int64_t limit = best_known_ ? best_known_->count() : kNoLimit;
    const OrderProblem problem = schedule_internal::order_problem(input_.graph, input_.least_kernels, options_.aliases);
    const bool is_near = best_known_ && search_coarse(problem);
    if (is_good_enough()) return;
    const std::int64_t effort = is_near ? std::min(options_.effort, kWorkIfNear) : options_.effort;
    const std::int64_t work = has_parts ? effort / 3 : effort;
    search(problem, {.bound = bound_.count(), .limit = limit, .work = work}, Loads::relaxed);
    // If no node shares bytes in part, the three problems are the same.
    if (!has_parts) return;
    for (Sharing sharing : {Sharing::everything, Sharing::nothing}) {
      if (is_good_enough()) return;
      // There is no limit. A measured order may be better than in the problem, because each node chooses for itself.
      search(schedule_internal::order_problem(input_.graph, input_.kernels, options_.aliases, sharing), {.work = work},
             Loads::of_one_choice);
    }
  }

  [[nodiscard]] Bytes bound() const { return bound_; }
  [[nodiscard]] std::int64_t sets() const { return sets_; }
  // Whether each problem was solved. Then no order of it is better than the one that was found, or the known one.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  // The measured order with the lowest load; nullopt if none was below the best known load.
  [[nodiscard]] std::optional<Schedule> take_found() { return std::move(found_); }

 private:
  // What the loads of a problem are: at most those of the graph, so that its bounds hold for the graph, or those of one
  // choice of what slices, splits and concats share.
  enum class Loads : std::uint8_t { relaxed, of_one_choice };

  // Searches problems in which small values count nothing. In a graph with thousands of small tensors, only such a
  // search ends. Does nothing unless at least half of the values are small. Returns whether the best load is then
  // within 1 / 1000 of the bound.
  bool search_coarse(const OrderProblem& problem) {
    const std::int64_t work = std::min(options_.effort / kCoarseWorkShare, kMostCoarseWork);
    bool is_near = false;
    for (const std::int64_t share : kCoarseShares) {
      const std::int64_t best = best_load().count();
      const OrderProblem coarse = schedule_internal::without_small_values(problem, best / share);
      const auto is_small = [](const OrderProblem::Value& value) { return value.size == 0; };
      const auto small = std::count_if(coarse.values.begin(), coarse.values.end(), is_small);
      if (static_cast<std::size_t>(small) < coarse.values.size() / 2) break;
      search(coarse, {.bound = bound_.count(), .limit = best, .work = work}, Loads::relaxed);
      is_near = best_load().count() - bound_.count() <= best_load().count() / kCoarseShares.back();
      if (is_near) break;
    }
    return is_near;
  }

  // `shown`: a lower bound of a problem whose loads are at most those of the graph.
  void raise(std::int64_t shown) {
    bound_ = std::max(bound_, std::min(round_up(Bytes(shown), options_.aliases.bound_alignment()), best_load()));
  }

  // Searches in phases and measures the order of each phase, because an order that is better in the problem may be
  // worse when it is measured.
  void search(const OrderProblem& problem, OrderSearchOptions options, Loads loads) {
    const OrderSearch prepared(problem);
    const bool has_limit = options.limit < kNoLimit;
    std::int64_t left = options.work;
    options.bytes = std::max(options.bytes, options.work / kWorkPerByte);
    for (std::int64_t work = kFirstPhase;; work = work > left / kPhaseGrowth ? left : work * kPhaseGrowth) {
      options.work = work > left / 2 ? left : work;
      left -= options.work;
      const FoundOrder order = run_phase(prepared, options);
      options.bound = std::max(options.bound, order.bound);
      if (loads == Loads::relaxed && (best_known_ || found_)) raise(options.bound);
      const bool is_solved = order.bound >= std::min(order.peak, options.limit);
      if (is_solved || order.is_final || left == 0 || is_good_enough()) {
        is_complete_ = is_complete_ && is_solved;
        return;
      }
      if (has_limit && found_) options.limit = std::min(options.limit, found_->load.count());
    }
  }

  FoundOrder run_phase(const OrderSearch& problem, const OrderSearchOptions& options) {
    FoundOrder order = problem.run(options);
    sets_ += order.sets;
    if (order.peak >= options.limit) return order;
    std::vector<NodeId> nodes;
    for (OrderProblem::Index node : order.order) nodes.push_back(NodeId(node));
    Schedule next = schedule_internal::measured(input_, options_, "search", std::move(nodes));
    if (!found_ || next.load < found_->load) found_ = std::move(next);
    return order;
  }

  // Before any order was measured, none is.
  [[nodiscard]] bool is_good_enough() const {
    return (best_known_ || found_) && lowtide::is_good_enough(options_, best_load(), bound_);
  }

  [[nodiscard]] Bytes best_load() const {
    if (!best_known_) return found_->load;
    return found_ ? std::min(*best_known_, found_->load) : *best_known_;
  }

  [[nodiscard]] bool shares_in_part() const {
    if (!options_.aliases.views) return false;
    for (NodeId id : all_ids<NodeId>(input_.graph.nodes().size())) {
      if (is_partial_view(input_.graph.op(id).traits.view) && input_.kernels[id].may_alias_views) return true;
    }
    return false;
  }

  const ScheduleInput& input_;
  const ScheduleOptions& options_;
  const std::optional<Bytes> best_known_;
  Bytes bound_;
  std::int64_t sets_ = 0;
  bool is_complete_ = true;
  std::optional<Schedule> found_;
};

// Efforts that a larger effort includes: powers of 2 up to kMostSmallEffort, which together cost little, kMiddleEffort,
// and the default times powers of kEffortGrowth.
constexpr std::int64_t kMostSmallEffort = std::int64_t{1} << 24;
constexpr std::int64_t kMiddleEffort = std::int64_t{1} << 27;
constexpr std::int64_t kEffortGrowth = 8;

// In graphs of more nodes than this, efforts below kLeastEffortPerNode are not included, because preparing such a
// search would take longer than the search.
constexpr std::size_t kMostNodesOfSmallEfforts = 2'000;
constexpr std::int64_t kLeastEffortPerNode = 16;

std::int64_t least_effort(std::size_t nodes) {
  return nodes <= kMostNodesOfSmallEfforts ? 1 : kLeastEffortPerNode * static_cast<std::int64_t>(nodes);
}

// Lists the efforts below `effort` that it includes, the largest first.
std::vector<std::int64_t> smaller_efforts(std::int64_t effort, std::size_t nodes) {
  const std::int64_t least = least_effort(nodes);
  std::vector<std::int64_t> efforts;
  for (std::int64_t one = 1; one <= kMostSmallEffort; one *= 2) efforts.push_back(one);
  efforts.push_back(kMiddleEffort);
  for (std::int64_t one = ScheduleOptions{}.effort; one < effort; one *= kEffortGrowth) {
    efforts.push_back(one);
    if (one > effort / kEffortGrowth) break;
  }
  std::erase_if(efforts, [&](std::int64_t one) { return one >= effort || one < least; });
  std::reverse(efforts.begin(), efforts.end());
  return efforts;
}

// A bound by minimum cuts, which does not need a search that ends. Computed once, after all searches, so that it does
// not change which orders they find.
Bytes raised_by_cuts(const ScheduleInput& input, const ScheduleOptions& options, Bytes bound, Bytes best) {
  const OrderProblem problem = schedule_internal::order_problem(input.graph, input.least_kernels, options.aliases);
  const std::int64_t raised = OrderSearch(problem).raised_by_cuts(bound.count(), options.effort / kCutsShare);
  const Bytes rounded = round_up(Bytes(raised), options.aliases.bound_alignment());
  LOWTIDE_CHECK(rounded <= best, "a lower bound by cuts is not above the load of an order");
  return std::max(bound, rounded);
}

struct SearchResult {
  std::optional<Schedule> found;  // the lowest load, if it is below that of the known order
  Bytes bound;
  bool is_bound_cut = false;  // minimum cuts proved the bound
  std::int64_t sets = 0;      // of the search that showed the bound; 0 if minimum cuts did
  bool is_complete = false;
};

// Searches with the effort of `options`, and then with the smaller efforts that it includes. A shorter search may find
// an order that is worse in the problem, but better when it is measured. Keeps the lowest load of all of them, so that
// a larger effort is never worse than one that it includes.
SearchResult search_with_smaller_efforts(const ScheduleInput& input, const ScheduleOptions& options,
                                         std::optional<Bytes> known) {
  GraphSearch search(input, options, known);
  search.run();
  SearchResult result{.found = search.take_found(),
                      .bound = search.bound(),
                      .sets = search.sets(),
                      .is_complete = search.is_complete()};
  if (!known) return result;
  for (std::int64_t effort : smaller_efforts(options.effort, input.graph.nodes().size())) {
    if (is_good_enough(options, result.found ? result.found->load : *known, result.bound)) break;
    ScheduleOptions smaller = options;
    smaller.effort = effort;
    GraphSearch other(input, smaller, known);
    other.run();
    if (other.bound() > result.bound) {
      result.bound = other.bound();
      result.sets = other.sets();
    }
    std::optional<Schedule> found = other.take_found();
    if (found && (!result.found || found->load < result.found->load)) result.found = std::move(found);
  }
  const Bytes best = result.found ? result.found->load : *known;
  if (is_good_enough(options, best, result.bound)) return result;
  const Bytes raised = raised_by_cuts(input, options, result.bound, best);
  if (raised > result.bound) {
    result.bound = raised;
    result.is_bound_cut = true;
    result.sets = 0;
  }
  return result;
}

}  // namespace

OrderChoice search_orders(const ScheduleInput& input, const ScheduleOptions& options, OrderChoice known) {
  const bool is_only_one = options.order == "search";
  const bool is_needed =
      options.order == "auto" && !is_good_enough(options, known.best.load, options.bound) && options.effort > 0;
  if (!is_only_one && !is_needed) return known;
  SearchResult result =
      search_with_smaller_efforts(input, options, is_only_one ? std::nullopt : std::optional(known.best.load));
  known.bound = result.bound;
  if (known.bound > options.bound) known.bound_name = result.is_bound_cut ? "cut" : "search";
  known.searched_sets = result.sets;
  known.is_search_complete = result.is_complete;
  if (!result.found) return known;
  if (is_only_one) {
    known.best = *std::move(result.found);
    known.tried = {{known.best.strategy, known.best.load}};
  } else {
    schedule_internal::take(input, *std::move(result.found), known);
    std::stable_sort(known.runners_up.begin(), known.runners_up.end(),
                     [](const Schedule& a, const Schedule& b) { return a.load < b.load; });
  }
  return known;
}

}  // namespace lowtide
