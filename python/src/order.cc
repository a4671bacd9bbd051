// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.h"
#include "call.h"
#include "lowtide/allocate/allocate.h"
#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"
#include "lowtide/import/import.h"
#include "lowtide/import/order_json.h"
#include "lowtide/pipeline/keep_budget.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/plan/run_values.h"
#include "lowtide/report/packing_page.h"
#include "lowtide/report/run_peak.h"
#include "lowtide/verify/check_budget.h"
#include "lowtide/verify/check_packing.h"
#include "order.h"

namespace lowtide::python {

Target plain_target() {
  Target target = dense_target();
  target.machine.regions[0].alignment = Bytes(1);
  return target;
}

ImportedOrderGraph read_order(const std::string& text, bool is_path, const OrderFileOptions& options) {
  if (is_path) return take(import_order_graph(text, options));
  Result<ImportedOrderGraph> file = parse_order_graph(text, options);
  if (file.ok()) return *std::move(file);
  Error error = file.error();
  if (error.place.starts_with(':')) error.place.insert(0, "graph");
  throw Failure(std::move(error));
}

std::vector<std::int64_t> numbers_of(const ImportedOrderGraph& file, const std::vector<NodeId>& runs) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(runs.size());
  for (NodeId run : runs) numbers.push_back(file.index[run]);
  return numbers;
}

nb::list values_at_peak(const ImportedOrderGraph& file, const BudgetProblem& problem, const std::vector<NodeId>& runs,
                        const CopiesOfRuns& copies) {
  const RunPeak peak = peak_of_values(values_of_runs(problem, runs, Overwriting::in_place, copies), runs.size());
  nb::list rows;
  for (const RunValue& value : peak.values) {
    const NodeId run = problem.nodes[value.entry].part_of.value_or(value.entry);
    const std::int64_t output = value.kind == RunValueKind::output ? file.output_numbers[value.entry] : -1;
    rows.append(nb::make_tuple(file.index[run], output, std::string(to_string(value.kind)), value.size.count()));
  }
  return rows;
}

Bytes beside_fixed(const ImportedOrderGraph& file, std::int64_t budget) {
  if (file.fixed_bytes <= Bytes(budget)) return Bytes(budget) - file.fixed_bytes;
  throw Failure(Error{ErrorCode::invalid,
                      "the budget is " + std::to_string(budget) + " B, and the bytes that are always live are " +
                          std::to_string(file.fixed_bytes.count()) + " B; give a larger budget",
                      ""});
}

std::string page_of_runs(ShownRuns shown, const PageHead& head) {
  if (head.second) shown.measured = Bytes(*head.second);
  const PackingProblem problem = packing_of_runs(shown);
  const Packing packing = take(allocate(problem));
  LOWTIDE_CHECK(check_packing(problem, packing.offsets, {}).empty(), "the offsets that were just found are correct");
  return packing_page(problem, packing,
                      {.name = head.first,
                       .tool = "lowtide",
                       .is_verified = true,
                       .figures = figures_of_runs(shown),
                       .bands = bands_of_runs(shown)});
}

namespace {

AnyDict order(const std::string& text, bool is_path, const std::string& strategy, std::optional<std::int64_t> effort) {
  OrderOptions options{.order = strategy};
  options.effort = effort.value_or(options.effort);
  std::vector<std::int64_t> numbers;
  const OrderedGraph ordered = call_interruptibly([&](const std::atomic<bool>* /*stop*/) {
    const ImportedOrderGraph file = read_order(text, is_path, {});
    OrderedGraph found = take(order_graph(file.graph, plain_target(), options));
    numbers = numbers_of(file, found.order);
    return found;
  });
  nb::dict answer;
  answer["order"] = numbers;
  answer["load"] = ordered.load.count();
  answer["load_as_given"] = ordered.load_as_given.count();
  answer["bound"] = ordered.bound.count();
  answer["bound_name"] = ordered.bound_name;
  answer["strategy"] = ordered.strategy;
  answer["proven_optimal"] = ordered.is_optimal();
  return answer;
}

nb::dict dict_of(const ImportedOrderGraph& file, const BudgetProblem& problem, Bytes budget,
                 const BudgetAnswer& answer) {
  nb::dict dict;
  dict["budget"] = (budget + file.fixed_bytes).count();
  dict["runs"] = numbers_of(file, answer.runs);
  dict["peak"] = (answer.peak + file.fixed_bytes).count();
  dict["outcome"] = std::string(to_string(answer.outcome));
  dict["cost"] = answer.cost;
  dict["base_cost"] = answer.base_cost;
  dict["cost_bound"] = answer.cost_bound;
  dict["at_peak"] = values_at_peak(file, problem, answer.runs);
  dict["obstacle"] = nb::none();
  nb::list beside;
  if (answer.obstruction && answer.obstruction->node) {
    dict["obstacle"] = file.index[*answer.obstruction->node];
    for (NodeId maker : answer.obstruction->makers) {
      if (maker != *answer.obstruction->node) beside.append(file.index[maker]);
    }
  }
  dict["obstacle_beside"] = nb::tuple(beside);
  return dict;
}

AnyDict keep(const std::string& text, bool is_path, std::int64_t budget, std::optional<std::int64_t> effort) {
  std::optional<ImportedOrderGraph> file;
  const KeptBudget kept = call_interruptibly([&](const std::atomic<bool>* stop) {
    file = read_order(text, is_path, {.with_costs = true});
    BudgetOptions options{.budget = beside_fixed(*file, budget), .effort = effort, .stop = stop};
    return take(keep_budget(file->graph, file->problem, plain_target(), options));
  });
  return dict_of(*file, kept.problem, kept.problem.budget, kept.answer);
}

AnyDict curve(const std::string& text, bool is_path, std::int64_t points, std::optional<std::int64_t> effort) {
  std::optional<ImportedOrderGraph> file;
  const BudgetCurve curve = call_interruptibly([&](const std::atomic<bool>* stop) {
    file = read_order(text, is_path, {.with_costs = true});
    CurveOptions options{.points = points, .stop = stop};
    options.effort = effort.value_or(options.effort);
    return take(keep_budgets(file->graph, file->problem, plain_target(), options));
  });
  nb::list rows;
  for (std::size_t at = 0; at < curve.budgets.size(); ++at) {
    rows.append(dict_of(*file, curve.problem, curve.budgets[at], curve.answers[at]));
  }
  nb::dict dict;
  dict["points"] = rows;
  dict["floor"] = (curve.floor + file->fixed_bytes).count();
  dict["order"] = numbers_of(*file, curve.ordered.order);
  return dict;
}

// Solves the problem as keep() does, and draws the answer with the values in one arena.
std::string page(const std::string& text, bool is_path, std::int64_t budget, std::optional<std::int64_t> effort,
                 const PageHead& head) {
  return call_interruptibly([&](const std::atomic<bool>* stop) {
    const ImportedOrderGraph file = read_order(text, is_path, {.with_costs = true});
    const BudgetOptions options{.budget = beside_fixed(file, budget), .effort = effort, .stop = stop};
    const KeptBudget kept = take(keep_budget(file.graph, file.problem, plain_target(), options));
    return page_of_runs({.problem = kept.problem,
                         .runs = kept.answer.runs,
                         .names = file.names,
                         .origins = file.origins,
                         .fixed = file.fixed_bytes,
                         .phases = file.phases},
                        head);
  });
}

// The entry that runs for each number in "nodes".
std::vector<std::optional<NodeId>> runs_by_number(const ImportedOrderGraph& file) {
  std::vector<std::optional<NodeId>> found;
  for (NodeId id : all_ids<NodeId>(file.index.size())) {
    const std::int64_t number = file.index[id];
    if (!file.problem.nodes[id].is_run()) continue;
    if (std::cmp_greater_equal(number, found.size())) found.resize(static_cast<std::size_t>(number) + 1);
    found[static_cast<std::size_t>(number)] = id;
  }
  return found;
}

// The answer that a sequence is, without a search. Throws Failure if it is not one of the problem.
BudgetAnswer answer_of(const ImportedOrderGraph& file, const BudgetProblem& problem,
                       const std::vector<std::int64_t>& numbers) {
  const std::vector<std::optional<NodeId>> runs = runs_by_number(file);
  BudgetAnswer answer;
  for (std::int64_t number : numbers) {
    if (number < 0 || std::cmp_greater_equal(number, runs.size()) || !runs[static_cast<std::size_t>(number)]) {
      throw Failure(Error{ErrorCode::invalid, "the runs have " + std::to_string(number) + ", and no such node runs"});
    }
    answer.runs.push_back(*runs[static_cast<std::size_t>(number)]);
  }
  for (NodeId run : answer.runs) {
    const std::optional<std::int64_t> sum = checked_add(answer.cost, problem.nodes[run].cost);
    if (!sum) throw Failure(Error{ErrorCode::over_limit, "the cost of all runs exceeds 2^63 - 1; give fewer runs", ""});
    answer.cost = *sum;
  }
  for (const BudgetNode& node : problem.nodes) answer.base_cost += node.cost;
  answer.cost_bound = answer.base_cost;
  answer.peak = peak_of_values(values_of_runs(problem, answer.runs), answer.runs.size()).bytes;
  answer.outcome = answer.peak <= problem.budget ? BudgetOutcome::found : BudgetOutcome::not_found;
  const std::vector<Violation> violations = check_budget_runs(problem, answer);
  if (violations.empty()) return answer;
  throw Failure(Error{ErrorCode::invalid, "the runs are no sequence of the graph: " + violations.front().message});
}

// Draws a sequence that is given.
std::string page_of_sequence(const std::string& text, bool is_path, std::int64_t budget,
                             const std::vector<std::int64_t>& runs, const PageHead& head) {
  return call_interruptibly([&](const std::atomic<bool>* /*stop*/) {
    const ImportedOrderGraph file = read_order(text, is_path, {.with_costs = true});
    BudgetProblem problem = file.problem;
    problem.budget = beside_fixed(file, budget);
    const BudgetAnswer answer = answer_of(file, problem, runs);
    return page_of_runs({.problem = problem,
                         .runs = answer.runs,
                         .names = file.names,
                         .origins = file.origins,
                         .fixed = file.fixed_bytes,
                         .phases = file.phases},
                        head);
  });
}

}  // namespace

void bind_order(nb::module_& module) {
  module.def("order", &order, nb::arg("text"), nb::arg("is_path"), nb::arg("strategy"), nb::arg("effort").none());
  module.def("keep_budget", &keep, nb::arg("text"), nb::arg("is_path"), nb::arg("budget"), nb::arg("effort").none());
  module.def("budget_page", &page, nb::arg("text"), nb::arg("is_path"), nb::arg("budget"), nb::arg("effort").none(),
             nb::arg("head"));
  module.def("page_of_sequence", &page_of_sequence, nb::arg("text"), nb::arg("is_path"), nb::arg("budget"),
             nb::arg("runs"), nb::arg("head"));
  module.def("budget_curve", &curve, nb::arg("text"), nb::arg("is_path"), nb::arg("points"), nb::arg("effort").none());
}

}  // namespace lowtide::python
