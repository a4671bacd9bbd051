// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <utility>
#include <vector>

#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/commands/earlier/learned_runs.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/learned_runs.h"

namespace lowtide::cli_internal {

ExitCode run_replay(const Arguments& arguments, Console& console) {
  if (!arguments.has("--then")) stop_usage("a replay has several runs; add one, such as --then batch=8");
  const Target target = read_target(arguments);
  const ModelRequest request = read_model_request(arguments, target);
  const LoadedModel loaded = load_model(request, console);
  remark_unknown_operators(target, loaded.lowered.graph, console);

  const Stopwatch watch;
  const LearnedRuns learned = [&] {
    const Progress progress(console, "replaying");
    const PlannedGraph planned = take(plan_graph(loaded.lowered.graph, target), request.path);
    if (!planned.violations.empty()) {
      stop_bug("the plan of Lowtide is wrong: " + planned.violations.front().message);
    }
    std::vector<NodeId> order;
    for (NodeId id : all_ids<NodeId>(baseline_graph(loaded).nodes().size())) order.push_back(id);
    return *compare_runs(arguments, {request, loaded, planned.plan, std::move(order)}, target);
  }();
  if (!arguments.has("--json")) {
    console.result(learned_runs_summary(learned));
    return ExitCode::done;
  }
  Json json = json_head("replay");
  json["model"] = json_of(loaded.facts);
  json.update(json_of(learned));
  json["notes"] = json_of(loaded.model.notes);
  json["seconds"] = {{"import", loaded.seconds}, {"replay", watch.seconds()}};
  print_json(console, json);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
