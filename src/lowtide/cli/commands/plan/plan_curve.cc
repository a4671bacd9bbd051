// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/plan/plan_curve.h"

#include <algorithm>

#include "lowtide/adapt/lower_for_machine.h"
#include "lowtide/adapt/model_hints.h"
#include "lowtide/cli/options/costs.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/pipeline/plan_curve.h"
#include "lowtide/report/plan_curve_report.h"

namespace lowtide::cli_internal {
namespace {

// A curve, and its graphs after that of the model.
struct ShownCurve {
  PlanCurve curve;
  std::vector<Lowered> others;
};

// The graphs that --budget may choose for the kernels of this machine; for other targets that of the model.
std::vector<Lowered> other_graphs(const CurveRequest& request) {
  if (request.target.formats == nullptr) return {};
  LowerOptions lowering = request.model.lowering;
  lowering.table = &request.loaded.model.constants;
  return take(other_lowerings(request.loaded.model.graph, lowering, request.loaded.lowered.passes),
              request.arguments.positional("MODEL"));
}

ShownCurve curve_of(const CurveRequest& request, Console& console) {
  PlanOptions options = request.options;
  const Interrupt interrupt;
  options.stop = interrupt.flag();
  Progress progress(console, "planning for several budgets");
  ShownCurve shown;
  std::vector<CurveGraph> graphs = {
      {.graph = &request.loaded.lowered.graph, .hints = options.hints, .lowering = request.loaded.lowered.passes}};
  const bool has_link = !request.target.machine.links.empty();
  std::vector<Lowered> others = other_graphs(request);
  shown.others.reserve(others.size());  // the graphs of the curve stay where they are
  for (Lowered& other : others) {
    const Result<ModelHints> hints = model_hints(request.loaded.model, other.graph, request.hints, has_link);
    if (!hints) continue;  // a hint names a node that this graph does not have
    const Lowered& kept = shown.others.emplace_back(std::move(other));
    graphs.push_back({.graph = &kept.graph, .hints = hints->accepted, .lowering = kept.passes});
  }
  const std::int64_t points = request.model.formats.budget.points;
  const auto show_row = [&](std::int64_t at) {
    progress.step("row " + std::to_string(at + 1) + " of " + std::to_string(points));
  };
  shown.curve =
      take(plan_curve(graphs, request.target, {.plan = std::move(options), .points = points, .on_point = show_row}),
           request.arguments.positional("MODEL"));
  if (interrupt.was_asked())
    console.remark(StyledText("interrupted; rows that were not reached have no plan").end_line());
  note_missing_times(request.arguments, shown.curve.estimate, console);
  return shown;
}

Json json_of_curve(const LoadedModel& loaded, const ShownCurve& shown) {
  const PlanCurve& curve = shown.curve;
  const auto lowering_of = [&](const BudgetPoint& point) -> const std::vector<std::string>& {
    return point.graph == 0 ? loaded.lowered.passes : shown.others[point.graph - 1].passes;
  };
  Json json = json_head("plan");
  json["model"] = json_of(loaded.facts);
  json["curve"] = {{"base_cost", curve.estimate.picoseconds},
                   {"floor", curve.floor.count()},
                   {"knee", curve.knee ? Json(*curve.knee) : Json(nullptr)},
                   {"estimate", json_of(curve.estimate)}};
  json["curve"]["points"] = Json::array();
  for (const BudgetPoint& point : curve.points) {
    const bool is_found = point.outcome == BudgetOutcome::found;
    const auto or_null = [&](std::int64_t value) { return is_found ? Json(value) : Json(nullptr); };
    json["curve"]["points"].push_back({{"budget", point.budget.count()},
                                       {"outcome", std::string(to_string(point.outcome))},
                                       {"planned_for", or_null(point.planned_for.count())},
                                       {"ram", or_null(point.ram.count())},
                                       {"cost", or_null(point.picoseconds)},
                                       {"reruns", or_null(point.reruns)},
                                       {"lowering", is_found ? Json(lowering_of(point)) : Json(nullptr)},
                                       {"cost_bound", point.bound_picoseconds}});
  }
  return json;
}

// The answer is no if no budget of the curve has a plan that is known to keep it.
ExitCode judge_curve(const PlanCurve& curve, Console& console) {
  const auto is_found = [](const BudgetPoint& point) { return point.outcome == BudgetOutcome::found; };
  const auto found = std::ranges::find_if(curve.points, is_found);
  if (found == curve.points.end()) return ExitCode::no;
  if (counts_all(found->plan->plan.claims)) return ExitCode::done;
  console.remark(StyledText("whether the plans fit is not known, because some memory is not counted").end_line());
  return ExitCode::no;
}

}  // namespace

void check_curve_options(const Arguments& arguments, const BudgetRequest& budget, const PlanOptions& options) {
  if (!budget.needs_curve()) return;
  if (options.streams > 1 || options.run == ExecutionModel::dataflow) {
    stop_usage("nodes run again on one stream only; omit '--streams' and '--run', or give one '--budget'");
  }
  if (budget.kind == BudgetRequest::Kind::curve && arguments.has("--output")) {
    stop_usage("'--curve' writes no plan; use '--budget auto' for the plan at the knee");
  }
}

void refuse_curve_of_range(const Arguments& arguments, const BudgetRequest& budget) {
  for (const char* option : {"--hints", "--curve", "--points"}) {
    if (arguments.has(option)) stop_usage("'" + std::string(option) + "' needs one value of each --dim; omit it");
  }
  if (budget.kind == BudgetRequest::Kind::automatic)
    stop_usage("'--budget auto' needs one value of each --dim; give a size");
}

ExitCode show_plan_curve(const CurveRequest& request, const OutputFiles& files, Console& console) {
  const ShownCurve shown = curve_of(request, console);
  const PlanCurve& curve = shown.curve;
  const Arguments& arguments = request.arguments;
  const std::string& path = request.loaded.facts.path;
  if (const std::optional<std::string> csv = arguments.value("--csv"))
    files.write(*csv, plan_curve_csv(curve), console);
  if (const std::optional<std::string> page = arguments.value("--html")) {
    files.write(*page, plan_curve_page(path, curve), console);
  }
  if (arguments.has("--json")) {
    print_json(console, json_of_curve(request.loaded, shown));
  } else {
    console.result(plan_curve_summary(path, curve));
  }
  return judge_curve(curve, console);
}

AutomaticBudget automatic_budget(const CurveRequest& request, Console& console) {
  ShownCurve shown = curve_of(request, console);
  const PlanCurve& curve = shown.curve;
  if (!curve.knee) throw Stop(ExitCode::no, "no plan was found for any budget, so there is no knee");
  const BudgetPoint& knee = curve.points[*curve.knee];
  console.remark(StyledText("budget: " + format_bytes(knee.planned_for) + ", of which the plan takes " +
                            format_bytes(knee.ram) + ", point " + std::to_string(*curve.knee + 1) + " of " +
                            std::to_string(curve.points.size()) + " of the curve ('--curve' shows all)")
                     .end_line());
  std::optional<Lowered> other;
  if (knee.graph != 0) other = std::move(shown.others[knee.graph - 1]);
  return {knee.planned_for, knee.plan, std::move(other)};
}

}  // namespace lowtide::cli_internal
