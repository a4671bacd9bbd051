// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/order/order_peak.h"

#include <filesystem>
#include <string>

#include "lowtide/allocate/allocate.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/tool_name.h"
#include "lowtide/plan/run_values.h"
#include "lowtide/report/packing_page.h"
#include "lowtide/verify/check_packing.h"

namespace lowtide::cli_internal {
namespace {

Json json_of_value(const ImportedOrderGraph& file, const ShownRuns& shown, const RunValue& value) {
  const NodeId run = shown.problem.nodes[value.entry].part_of.value_or(value.entry);
  const bool is_kept = value.live.end > shown.runs.size();
  return {{"node", file.index[run]},
          {"output", value.kind == RunValueKind::output ? Json(file.output_numbers[value.entry]) : Json(nullptr)},
          {"kind", std::string(to_string(value.kind))},
          {"bytes", value.size.count()},
          {"from_run", value.live.begin},
          {"to_run", is_kept ? Json(nullptr) : Json(value.live.end - 1)},
          {"origin", json_text(origin_of(shown, value.entry))}};
}

}  // namespace

ShownRuns shown_runs(const ImportedOrderGraph& file, const BudgetProblem& problem, const std::vector<NodeId>& runs) {
  return {.problem = problem,
          .runs = runs,
          .names = file.names,
          .origins = file.origins,
          .overwriting = Overwriting::in_place,
          .fixed = file.fixed_bytes,
          .phases = file.phases};
}

ShownRuns shown_order(const ImportedOrderGraph& file, const std::vector<NodeId>& order) {
  ShownRuns shown = shown_runs(file, file.problem, order);
  shown.overwriting = Overwriting::beside;
  shown.fixed = Bytes(0);
  return shown;
}

Json json_of_peak(const ImportedOrderGraph& file, const ShownRuns& shown) {
  const RunPeak peak = peak_of_values(values_of_runs(shown.problem, shown.runs, shown.overwriting), shown.runs.size());
  const bool is_end = peak.position == shown.runs.size();
  Json json{{"run", is_end ? Json(nullptr) : Json(peak.position)},
            {"node", is_end ? Json(nullptr) : Json(file.index[shown.runs[peak.position]])},
            {"origin", is_end ? Json("") : Json(json_text(origin_of(shown, shown.runs[peak.position])))},
            {"bytes", (peak.bytes + shown.fixed).count()}};
  json["values"] = Json::array();
  for (const RunValue& value : peak.values) json["values"].push_back(json_of_value(file, shown, value));
  return json;
}

void write_runs_page(const OrderRequest& request, const ShownRuns& shown, Console& console) {
  const std::optional<std::string> destination = request.arguments.value("--html");
  if (!destination) return;
  const PackingProblem problem = packing_of_runs(shown);
  const Packing packing = [&] {
    const Progress progress(console, "placing the values");
    return take(allocate(problem), request.path);
  }();
  const std::vector<Violation> wrong = check_packing(problem, packing.offsets, {});
  if (!wrong.empty()) stop_bug("the search found wrong offsets: " + wrong.front().message, "file");
  const std::string name = std::filesystem::path(request.path).filename().string();
  const std::string page = packing_page(problem, packing,
                                        {.name = name,
                                         .tool = tool_name(),
                                         .is_verified = true,
                                         .figures = figures_of_runs(shown),
                                         .bands = bands_of_runs(shown)});
  request.files.write(*destination, page, console);
}

}  // namespace lowtide::cli_internal
