// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/schedule.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/schedule/orders/order_problem.h"
#include "lowtide/schedule/orders/order_search.h"
#include "lowtide/schedule/orders/heuristics.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

using schedule_internal::FoundOrder;
using schedule_internal::OrderProblem;
using schedule_internal::OrderSearch;
using schedule_internal::OrderSearchOptions;
using schedule_internal::Sharing;
using schedule_internal::order_problem;

struct Strategy {
  std::string name;
  std::vector<NodeId> (*order)(const Graph&);
};

const std::vector<Strategy>& strategies() {
  static const std::vector<Strategy> all = {{"as_given", schedule_internal::as_given},
                                            {"depth_first", schedule_internal::depth_first},
                                            {"greedy_by_freed_bytes", schedule_internal::greedy_by_freed_bytes},
                                            {"reverse_post_order", schedule_internal::reverse_post_order},
                                            {"breadth_first", schedule_internal::breadth_first},
                                            {"longest_path", schedule_internal::longest_path},
                                            {"depth_first_by_fan_out", schedule_internal::depth_first_by_fan_out},
                                            {"least_peak_first", schedule_internal::least_peak_first}};
  return all;
}

constexpr std::string_view kSearch = "search";

// The best of several, as other systems choose.
struct Choice {
  std::string name;
  std::vector<std::string> strategies;
};

const std::vector<Choice>& choices() {
  static const std::vector<Choice> all = {
      {"best_of_xla", {"depth_first", "greedy_by_freed_bytes", "depth_first_by_fan_out"}},
      {"best_of_inductor", {"depth_first", "breadth_first", "least_peak_first"}}};
  return all;
}

// Orders that do not meet the bound are measured in other ways to share too, in graphs of at most so many nodes.
constexpr std::size_t kMostShared = 20'000;

// Work of the first phase of a search, and how many times as much each next one has.
constexpr std::int64_t kFirstPhase = 10'000'000;
constexpr std::int64_t kPhase = 8;

// More effort than the default may take more memory too.
constexpr std::int64_t kWorkPerByte = 32;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// The rules that give every order its aliases are no search: now and then fewer of them are better.
std::vector<AliasOptions> simpler(const AliasOptions& all) {
  std::vector<AliasOptions> ways(3, all);
  ways[0].parts = false;
  ways[1].in_place = false;
  ways[2].views = false;
  return ways;
}

Schedule measure(const Graph& graph, const ChosenKernels& kernels, const ScheduleOptions& options, std::string name,
                 std::vector<NodeId> order) {
  Schedule schedule;
  schedule.order = std::move(order);
  LOWTIDE_CHECK(schedule.order.size() == graph.nodes().size(), "an order holds every node once");
  schedule.strategy = std::move(name);
  schedule.aliases = alias_classes(graph, kernels, schedule.order, options.aliases);
  schedule.load = largest(load_profile(schedule.aliases, kernels, schedule.order, options.aliases));
  return schedule;
}

// Where that is known to leave room: with a bound.
void share_less(const Graph& graph, const ChosenKernels& kernels, const ScheduleOptions& options, Schedule& schedule) {
  if (graph.nodes().size() > kMostShared || options.bound == Bytes(0)) return;
  for (const AliasOptions& way : simpler(options.aliases)) {
    if (schedule.load <= options.bound) break;
    AliasClasses aliases = alias_classes(graph, kernels, schedule.order, way);
    const Bytes load = largest(load_profile(aliases, kernels, schedule.order, way));
    if (load >= schedule.load) continue;
    schedule.aliases = std::move(aliases);
    schedule.load = load;
  }
}

class Scheduler {
 public:
  Scheduler(const Graph& graph, const ChosenKernels& kernels, const ScheduleOptions& options)
      : graph_(graph), kernels_(kernels), options_(options), bound_(options.bound) {
    if (options.start != nullptr && is_wanted(options.start->strategy)) {
      best_ = *options.start;
      share_less(graph, kernels, options, *best_);
      tried_ = {{best_->strategy, best_->load}};
    }
  }

  std::optional<Schedule> run() && {
    for (const Strategy& strategy : strategies()) {
      if (best_ && best_->load <= bound_) break;
      if (!is_wanted(strategy.name)) continue;
      if (options_.start != nullptr && options_.start->strategy == strategy.name) continue;
      take(measured(strategy.name, strategy.order(graph_)));
    }
    if (is_wanted(std::string(kSearch)) && (!best_ || best_->load > bound_)) search();
    if (!best_) return std::nullopt;
    best_->tried = std::move(tried_);
    std::stable_sort(rivals_.begin(), rivals_.end(),
                     [](const Schedule& a, const Schedule& b) { return a.load < b.load; });
    best_->rivals = std::move(rivals_);
    best_->bound = bound_;
    best_->is_bound_searched = bound_ > options_.bound;
    best_->searched_sets = searched_sets_;
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool is_wanted(const std::string& name) const {
    if (options_.order == "auto" || options_.order == name) return true;
    return std::any_of(choices().begin(), choices().end(), [&](const Choice& choice) {
      return choice.name == options_.order &&
             std::find(choice.strategies.begin(), choice.strategies.end(), name) != choice.strategies.end();
    });
  }

  [[nodiscard]] Schedule measured(std::string name, std::vector<NodeId> order) const {
    Schedule schedule = measure(graph_, kernels_, options_, std::move(name), std::move(order));
    share_less(graph_, kernels_, options_, schedule);
    return schedule;
  }

  void take(Schedule next) {
    tried_.emplace_back(next.strategy, next.load);
    if (best_ && next.load >= best_->load) return keep(std::move(next));
    if (best_) keep(*std::move(best_));
    best_ = std::move(next);
  }

  void keep(Schedule rival) {
    rival.tried.clear();
    rival.rivals.clear();
    if (graph_.nodes().size() <= kMostShared) rivals_.push_back(std::move(rival));
  }

  // First the problem that bounds all; its best order may share less than it hopes for, so others are looked at too.
  void search() {
    const std::int64_t limit = best_ ? best_->load.count() : kNoLimit;
    const ChosenKernels& least = options_.least != nullptr ? *options_.least : kernels_;
    std::optional<Schedule> found;
    const auto look_once = [&](const OrderSearch& problem, const OrderSearchOptions& search) {
      FoundOrder order = problem.run(search);
      searched_sets_ += order.sets;
      if (order.peak >= search.limit) return order;  // nothing is better than what is known
      std::vector<NodeId> nodes;
      for (OrderProblem::Index node : order.order) nodes.push_back(NodeId(node));
      Schedule next = measured(std::string(kSearch), std::move(nodes));
      if (!found || next.load < found->load) found = std::move(next);
      return order;
    };
    // In phases, each of kPhase times the work of the last: an order that is better in the problem may be worse when
    // measured, so what less work has found counts too.
    const auto look = [&](const OrderProblem& problem, OrderSearchOptions options) {
      const OrderSearch prepared(problem);
      std::int64_t left = options.work;
      options.bytes = std::max(options.bytes, options.work / kWorkPerByte);
      const bool has_limit = options.limit < kNoLimit;
      for (std::int64_t work = kFirstPhase;; work = work > left / kPhase ? left : work * kPhase) {
        options.work = work > left / 2 ? left : work;
        left -= options.work;
        const FoundOrder order = look_once(prepared, options);
        options.bound = std::max(options.bound, order.bound);
        if (order.is_final || left == 0 || order.bound >= std::min(order.peak, options.limit)) return options.bound;
        if (has_limit && found) options.limit = std::min(options.limit, found->load.count());
      }
    };
    // Without slices, splits and concats the three problems are one.
    const bool is_one = !has_parts();
    const std::int64_t work = is_one ? options_.effort : options_.effort / 3;
    const std::int64_t shown =
        look(order_problem(graph_, least, options_.aliases), {.bound = bound_.count(), .limit = limit, .work = work});
    const auto best = [&] {
      if (!best_) return found->load;
      return found ? std::min(best_->load, found->load) : best_->load;
    };
    bound_ = std::max(bound_, std::min(round_up(Bytes(shown), options_.aliases.bound_alignment()), best()));
    for (Sharing sharing : {Sharing::everything, Sharing::nothing}) {
      if (best() <= bound_ || is_one) break;
      // No limit: measured, an order may be better than in the problem, since some may share and others not.
      (void)look(order_problem(graph_, kernels_, options_.aliases, sharing), {.work = work});
    }
    if (found) take(*std::move(found));
  }

  [[nodiscard]] bool has_parts() const {
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (!is_partial_view(graph_.op(id).traits.view)) continue;
      if (options_.aliases.views && kernels_[id].may_alias_views) return true;
    }
    return false;
  }

  const Graph& graph_;
  const ChosenKernels& kernels_;
  const ScheduleOptions& options_;
  Bytes bound_;
  std::int64_t searched_sets_ = 0;
  std::optional<Schedule> best_;
  std::vector<std::pair<std::string, Bytes>> tried_;
  std::vector<Schedule> rivals_;
};

}  // namespace

const std::vector<std::string>& schedule_strategies() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Strategy& strategy : strategies()) all.push_back(strategy.name);
    all.emplace_back(kSearch);
    for (const Choice& choice : choices()) all.push_back(choice.name);
    return all;
  }();
  return names;
}

Result<Schedule> schedule(const Graph& graph, const ChosenKernels& kernels, const ScheduleOptions& options) {
  std::optional<Schedule> best = Scheduler(graph, kernels, options).run();
  if (best) return *std::move(best);
  std::string known = "auto";
  for (const std::string& name : schedule_strategies()) known += ", " + name;
  return Error{ErrorCode::invalid, "there is no order " + quoted(options.order) + "; there are " + known, ""};
}

}  // namespace lowtide
