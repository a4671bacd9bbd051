// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/order/order_curve.h"

#include <optional>
#include <string>
#include <vector>

#include "lowtide/cli/commands/order/order_request.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/report/curve_summary.h"

namespace lowtide::cli_internal {
namespace {

Json json_of_point(const ImportedOrderGraph& file, Bytes budget, const BudgetAnswer& answer) {
  const bool is_found = answer.outcome == BudgetOutcome::found;
  Json json{{"budget", (budget + file.fixed_bytes).count()},
            {"feasible", is_found},
            {"proven_infeasible", answer.outcome == BudgetOutcome::infeasible},
            {"peak_bytes", (answer.peak + file.fixed_bytes).count()},
            {"cost", answer.cost},
            {"cost_bound", answer.cost_bound},
            {"cost_bound_name", to_string(answer.bound_kind)},
            {"cost_proven_optimal", answer.is_optimal()},
            {"order", Json::array()}};
  for (NodeId node : answer.runs) json["order"].push_back(file.index[node]);
  return json;
}

Json json_of_curve(const std::string& path, const ImportedOrderGraph& file, const BudgetCurve& curve, double seconds) {
  Json json = json_head("order");
  json["path"] = json_text(path);
  json["nodes"] = file.graph.nodes().size();
  json["fixed_bytes"] = file.fixed_bytes.count();
  json["base_cost"] = curve.answers.front().base_cost;
  json["floor"] = (curve.floor + file.fixed_bytes).count();
  json["floor_reached"] = curve.answers.back().outcome == BudgetOutcome::found;
  json["points"] = Json::array();
  for (std::size_t at = 0; at < curve.budgets.size(); ++at) {
    json["points"].push_back(json_of_point(file, curve.budgets[at], curve.answers[at]));
  }
  json["seconds"] = {{"order", seconds}};
  json["notes"] = json_of(file.notes);
  return json;
}

// One row per point, with a header. A point without a sequence has no cost.
std::string csv_of_curve(const ImportedOrderGraph& file, const BudgetCurve& curve) {
  std::string csv = "budget,cost,base_cost,cost_bound,proven\n";
  for (std::size_t at = 0; at < curve.budgets.size(); ++at) {
    const BudgetAnswer& answer = curve.answers[at];
    const bool is_found = answer.outcome == BudgetOutcome::found;
    csv += std::to_string((curve.budgets[at] + file.fixed_bytes).count()) + "," +
           (is_found ? std::to_string(answer.cost) : "") + "," + std::to_string(answer.base_cost) + "," +
           std::to_string(answer.cost_bound) + "," + (answer.is_optimal() ? "true" : "false") + "\n";
  }
  return csv;
}

}  // namespace

ExitCode show_curve(const Arguments& arguments, const ImportedOrderGraph& file, const std::string& path,
                    Console& console) {
  CurveOptions options;
  options.order.order = arguments.value("--order").value_or(options.order.order);
  options.points = read_points(arguments).value_or(options.points);
  options.effort = read_count(arguments, "--effort", 0).value_or(options.effort);
  const std::optional<std::string> csv_file = arguments.value("--csv");
  const OutputFiles files(csv_file ? std::vector<std::string>{*csv_file} : std::vector<std::string>{},
                          {arguments.positional("FILE")}, arguments.has("--json"));
  const Stopwatch watch;
  const Interrupt interrupt;
  options.stop = interrupt.flag();
  const BudgetCurve curve = [&] {
    const Progress progress(console, "solving budgets");
    return take(keep_budgets(file.graph, file.problem, plain_target(), options), path);
  }();
  if (interrupt.was_asked()) remark_interrupted(console);
  if (csv_file) files.write(*csv_file, csv_of_curve(file, curve), console);
  if (arguments.has("--json")) {
    Json json = json_of_curve(arguments.positional("FILE"), file, curve, watch.seconds());
    json["interrupted"] = interrupt.was_asked();
    print_json(console, json);
  } else if (!files.uses_stdout()) {
    console.result(curve_summary(path, curve, file.fixed_bytes));
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
