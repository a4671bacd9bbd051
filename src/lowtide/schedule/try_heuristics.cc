// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/try.h"
#include "lowtide/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/schedule/measure.h"
#include "lowtide/schedule/orders/heuristics.h"

namespace lowtide {
namespace {

struct Heuristic {
  std::string name;
  std::vector<NodeId> (*order)(const Graph&);
  bool is_in_auto = true;
};

const std::vector<Heuristic>& heuristics() {
  static const std::vector<Heuristic> all = {{"as_given", schedule_internal::as_given},
                                             {"depth_first", schedule_internal::depth_first},
                                             {"greedy_by_freed_bytes", schedule_internal::greedy_by_freed_bytes},
                                             {"reverse_post_order", schedule_internal::reverse_post_order},
                                             {"breadth_first", schedule_internal::breadth_first},
                                             {"deepest_input_first", schedule_internal::deepest_input_first},
                                             {"depth_first_by_fan_out", schedule_internal::depth_first_by_fan_out},
                                             {"least_peak_first", schedule_internal::least_peak_first},
                                             {"longest_path", schedule_internal::longest_path, false}};
  return all;
}

// The best of several heuristics, as other systems choose.
struct Selection {
  std::string name;
  std::vector<std::string> heuristics;
};

const std::vector<Selection>& selections() {
  static const std::vector<Selection> all = {
      {"best_of_xla", {"depth_first", "greedy_by_freed_bytes", "depth_first_by_fan_out"}},
      {"best_of_inductor", {"depth_first", "breadth_first", "least_peak_first"}}};
  return all;
}

bool allows(const std::string& order, const Heuristic& heuristic) {
  if (order == heuristic.name || (order == "auto" && heuristic.is_in_auto)) return true;
  return std::any_of(selections().begin(), selections().end(), [&](const Selection& one) {
    return one.name == order &&
           std::find(one.heuristics.begin(), one.heuristics.end(), heuristic.name) != one.heuristics.end();
  });
}

Result<void> check_order(const std::string& order) {
  const std::vector<std::string>& known = schedule_strategies();
  if (order == "auto" || std::find(known.begin(), known.end(), order) != known.end()) return {};
  std::string names = "auto";
  for (const std::string& name : known) names += ", " + name;
  return Error{ErrorCode::invalid, "there is no order " + quoted(order) + "; use one of " + names, ""};
}

// Measures the first heuristic. If that is the order as given, and it was measured before, only tries to share less.
OrderChoice first_choice(const ScheduleInput& input, const ScheduleOptions& options, std::optional<Schedule> as_given) {
  const auto first = std::find_if(heuristics().begin(), heuristics().end(),
                                  [&](const Heuristic& one) { return allows(options.order, one); });
  OrderChoice choice;
  choice.bound = options.bound;
  const bool is_search = first == heuristics().end();
  const Heuristic& heuristic = is_search ? heuristics().front() : *first;
  if (as_given && heuristic.name == as_given->strategy) {
    choice.best = *std::move(as_given);
    schedule_internal::share_less(input, options, choice.best);
  } else {
    choice.best = schedule_internal::measured(input, options, heuristic.name, heuristic.order(input.graph));
  }
  if (!is_search) choice.tried = {{choice.best.strategy, choice.best.load}};
  return choice;
}

}  // namespace

const std::vector<std::string>& schedule_strategies() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Heuristic& heuristic : heuristics()) all.push_back(heuristic.name);
    all.emplace_back("search");
    for (const Selection& selection : selections()) all.push_back(selection.name);
    return all;
  }();
  return names;
}

Result<OrderChoice> try_heuristics(const ScheduleInput& input, const ScheduleOptions& options,
                                   std::optional<Schedule> as_given) {
  LOWTIDE_RETURN_IF_ERROR(check_order(options.order));
  OrderChoice choice = first_choice(input, options, std::move(as_given));
  const std::string first = choice.best.strategy;
  for (const Heuristic& heuristic : heuristics()) {
    if (choice.best.load <= options.bound) break;
    if (heuristic.name == first || !allows(options.order, heuristic)) continue;
    schedule_internal::take(
        input, schedule_internal::measured(input, options, heuristic.name, heuristic.order(input.graph)), choice);
  }
  std::stable_sort(choice.runners_up.begin(), choice.runners_up.end(),
                   [](const Schedule& a, const Schedule& b) { return a.load < b.load; });
  return choice;
}

Result<OrderChoice> schedule(const Graph& graph, const ChosenKernels& kernels, const ScheduleOptions& options) {
  const ScheduleInput input{graph, kernels, kernels};
  LOWTIDE_TRY(OrderChoice choice, try_heuristics(input, options));
  return search_orders(input, options, std::move(choice));
}

}  // namespace lowtide
