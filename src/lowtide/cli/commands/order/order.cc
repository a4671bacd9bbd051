// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/model_hints.h"
#include "lowtide/base/limits.h"
#include "lowtide/cli/commands/order/order_curve.h"
#include "lowtide/cli/commands/order/order_peak.h"
#include "lowtide/cli/commands/order/order_request.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/hints.h"
#include "lowtide/cli/options/link_options.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/import/order_json.h"
#include "lowtide/pipeline/keep_budget.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/report/budget_summary.h"
#include "lowtide/report/order_summary.h"

namespace lowtide::cli_internal {
namespace {

ImportedOrderGraph read_graph(const std::string& path, const OrderFileOptions& options) {
  if (path != "-") return take(import_order_graph(path, options));
  return take(parse_order_graph(take(read_text_file(path, limits::kMaxFileBytes)), options), "stdin");
}

// The keys that --budget adds. `order` then has the reruns, too.
void add_budget(Json& json, const ImportedOrderGraph& file, const KeptBudget& kept) {
  const BudgetAnswer& answer = kept.answer;
  json["budget"] = (kept.problem.budget + file.fixed_bytes).count();
  json["fixed_bytes"] = file.fixed_bytes.count();
  json["peak_bytes"] = (answer.peak + file.fixed_bytes).count();
  json["feasible"] = answer.outcome == BudgetOutcome::found;
  json["proven_infeasible"] = answer.outcome == BudgetOutcome::infeasible;
  json["infeasible_node"] = nullptr;
  json["infeasible_origin"] = "";
  json["infeasible_beside"] = Json::array();
  if (answer.obstruction && answer.obstruction->node) {
    const NodeId obstacle = *answer.obstruction->node;
    json["infeasible_node"] = file.index[obstacle];
    json["infeasible_origin"] = json_text(file.origins[obstacle]);
    for (NodeId maker : answer.obstruction->makers) {
      if (maker != obstacle) json["infeasible_beside"].push_back(file.index[maker]);
    }
  }
  json["cost"] = answer.cost;
  json["base_cost"] = answer.base_cost;
  json["overhead"] = nullptr;
  if (answer.base_cost > 0) {
    json["overhead"] = static_cast<double>(answer.cost - answer.base_cost) / static_cast<double>(answer.base_cost);
  }
  json["cost_bound"] = answer.cost_bound;
  json["cost_bound_name"] = to_string(answer.bound_kind);
  json["cost_proven_optimal"] = answer.is_optimal();
  add_runs(json, file, answer.runs);
}

ExitCode keep_budget_of(const OrderRequest& request, Bytes budget, Console& console) {
  const ImportedOrderGraph& file = request.file;
  BudgetOptions options{.order = request.options, .budget = budget_beside_fixed(request, budget, console)};
  options.effort = read_count(request.arguments, "--effort", 0);
  options.hints = request.hints.accepted;
  const Stopwatch watch;
  const Interrupt interrupt;
  options.stop = interrupt.flag();
  const KeptBudget kept = [&] {
    Progress progress(console, "ordering");
    options.on_improvement = [&](const BudgetAnswer& best) {
      progress.note(
          progress_of_budget(best.outcome == BudgetOutcome::found, best.cost, best.cost_bound, best.base_cost));
    };
    return take(keep_budget(file.graph, file.problem, plain_target(), options), request.path);
  }();
  if (interrupt.was_asked()) remark_interrupted(console);
  const HintResults hints{.hints = request.hints.accepted,
                          .names = request.hints.names,
                          .runs = runs_of(file.graph, kept.answer.runs),
                          .is_kept = kept.answer.outcome == BudgetOutcome::found};
  const ShownRuns shown = shown_runs(file, kept.problem, kept.answer.runs);
  write_runs_page(request, shown, console);
  if (request.arguments.has("--json")) {
    Json json = json_of_order(request, kept.ordered, watch.seconds());
    json["interrupted"] = interrupt.was_asked();
    add_budget(json, file, kept);
    json["peak"] = json_of_peak(file, shown);
    json["hints"] = json_of(hints);
    print_json(console, json);
  } else {
    console.result(budget_summary(request.path, file.graph, kept, file.fixed_bytes, file.origins));
    console.result(run_peak_text(shown, kMostAtPeak));
    console.result(hints_text(hints));
  }
  return kept.answer.outcome == BudgetOutcome::found ? ExitCode::done : ExitCode::no;
}

// Stops if a hint cannot be honoured.
ResolvedHints resolve_given(const Arguments& arguments, const Graph& graph, bool has_link) {
  ResolvedHints hints = resolve_hints(graph, read_hints(arguments), {.has_link = has_link, .is_plain = true});
  std::string all;
  for (const RefusedHint& refused : hints.refused) all += (all.empty() ? "" : "\n  ") + refusal_text(refused);
  if (!all.empty()) throw Stop(ExitCode::bad_input, arguments.value("--hints").value_or("") + ": " + all);
  return hints;
}

}  // namespace

Target plain_target() {
  Target target = dense_target();
  target.machine.regions[0].alignment = Bytes(1);
  return target;
}

Json json_of_order(const OrderRequest& request, const OrderedGraph& ordered, double seconds) {
  const ImportedOrderGraph& file = request.file;
  Json json = json_head("order");
  json["path"] = json_text(request.arguments.positional("FILE"));
  json["nodes"] = file.graph.nodes().size();
  json["load_as_given"] = ordered.load_as_given.count();
  json["load"] = ordered.load.count();
  json["bound"] = ordered.bound.count();
  json["bound_name"] = ordered.bound_name;
  json["gap"] = json_of_gap(ordered.load, ordered.bound);
  json["proven_optimal"] = ordered.is_optimal();
  json["strategy"] = ordered.strategy;
  json["tried"] = Json::array();
  for (const auto& [name, load] : ordered.tried) json["tried"].push_back({{"strategy", name}, {"load", load.count()}});
  json["seconds"] = {{"import", request.import_seconds}, {"order", seconds}};
  json["notes"] = json_of(file.notes);
  json["order"] = Json::array();
  for (NodeId id : ordered.order) json["order"].push_back(file.index[id]);
  return json;
}

IdVector<NodeId, std::int64_t> runs_of(const Graph& graph, const std::vector<NodeId>& runs) {
  IdVector<NodeId, std::int64_t> times(graph.nodes().size());
  for (NodeId node : runs) ++times[node];
  return times;
}

void add_runs(Json& json, const ImportedOrderGraph& file, const std::vector<NodeId>& runs) {
  json["recomputed"] = Json::array();
  const IdVector<NodeId, std::int64_t> times = runs_of(file.graph, runs);
  for (NodeId node : all_ids<NodeId>(times.size())) {
    if (times[node] > 1) {
      json["recomputed"].push_back(
          {{"node", file.index[node]}, {"times", times[node] - 1}, {"origin", json_text(file.origins[node])}});
    }
  }
  json["order"] = Json::array();
  for (NodeId node : runs) json["order"].push_back(file.index[node]);
}

Bytes budget_beside_fixed(const OrderRequest& request, Bytes budget, Console& console) {
  const Bytes fixed = request.file.fixed_bytes;
  if (fixed <= budget) return budget - fixed;
  if (request.arguments.has("--json")) {
    Json json = json_head("order");
    json["path"] = json_text(request.arguments.positional("FILE"));
    json["nodes"] = request.file.graph.nodes().size();
    json["budget"] = budget.count();
    json["fixed_bytes"] = fixed.count();
    json["feasible"] = false;
    json["proven_infeasible"] = true;
    json["infeasible_node"] = nullptr;
    json["notes"] = json_of(request.file.notes);
    print_json(console, json);
  }
  throw Stop(ExitCode::no, "the budget is " + format_bytes(budget) + ", and what the file says is always live ('" +
                               "fixed_bytes' and states) takes " + format_bytes(fixed) + "; give a larger budget");
}

std::string progress_of_budget(bool is_found, std::int64_t cost, std::int64_t bound, std::int64_t base) {
  const std::string least = "at least " + percent(bound - base, base);
  return is_found ? "overhead " + percent(cost - base, base) + ", " + least : "above the budget, " + least;
}

void remark_interrupted(Console& console) {
  console.remark(StyledText("interrupted; this is the best answer found so far").end_line());
}

ExitCode run_order(const Arguments& arguments, Console& console) {
  OrderOptions options;
  options.order = arguments.value("--order").value_or(options.order);
  options.effort = read_count(arguments, "--effort", 0).value_or(options.effort);
  const std::string& file_name = arguments.positional("FILE");
  const std::string path = name_of_file(file_name);

  const Stopwatch reading;
  const std::optional<Bytes> budget = read_positive_size(arguments, "--budget");
  const bool is_curve = arguments.has("--curve");
  if (is_curve && budget) stop_usage("'--curve' solves many budgets; omit '--budget' or '--curve'");
  if (arguments.has("--points") && !is_curve) stop_usage("'--points' is the number of budgets of '--curve'");
  if (arguments.has("--csv") && !is_curve) stop_usage("'--csv' writes the points of '--curve'");
  const std::optional<TransferLink> link = read_link(arguments);
  const std::optional<std::string> page_file = arguments.value("--html");
  if (page_file && (is_curve || link)) {
    stop_usage("'--html' draws one sequence without transfers; omit it, '--curve' or '--link'");
  }
  const OutputFiles files(page_file ? std::vector<std::string>{*page_file} : std::vector<std::string>{}, {file_name},
                          arguments.has("--json"));
  if (files.uses_stdout()) console.keep_stdout_free();
  const ImportedOrderGraph file =
      read_graph(file_name, {.with_costs = budget.has_value() || is_curve, .with_units = link.has_value()});
  console.notes(file.notes);
  const double import_seconds = reading.seconds();
  if (is_curve) return show_curve(arguments, file, path, console);
  OrderRequest request{
      arguments, path, file, options, import_seconds, files, resolve_given(arguments, file.graph, link.has_value())};
  // The order is where the search for reruns begins. It has its own effort, so that more effort begins from the same.
  if (budget && options.effort > 0) request.options.effort = OrderOptions{}.effort;
  if (link) return swap_budget_of(request, *budget, *link, console);
  if (budget) return keep_budget_of(request, *budget, console);

  const Stopwatch watch;
  const OrderedGraph ordered = [&] {
    const Progress progress(console, "ordering");
    return take(order_graph(file.graph, plain_target(), options), path);
  }();
  const ShownRuns shown = shown_order(file, ordered.order);
  write_runs_page(request, shown, console);
  if (arguments.has("--json")) {
    Json json = json_of_order(request, ordered, watch.seconds());
    json["peak"] = json_of_peak(file, shown);
    print_json(console, json);
  } else {
    console.result(order_summary(path, file.graph, ordered));
    console.result(run_peak_text(shown, kMostAtPeak));
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
