// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/learned_runs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "lowtide/base/listed.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/earlier/baselines/static_runtime_runs.h"
#include "lowtide/pipeline/plan_graph.h"

namespace lowtide::cli_internal {
namespace {

// What remains of the model for some sizes.
struct Sized {
  Graph graph;
  Bytes arena;
};

Sized load_sized(const ModelRequest& request, const Target& target) {
  Console quiet;  // the first run has printed the notes
  quiet.set_quiet(true);
  LoadedModel loaded = load_model(request, quiet);
  const PlannedGraph planned = take(plan_graph(loaded.lowered.graph, target), request.path);
  if (!planned.violations.empty()) {
    stop_bug("the plan of Lowtide is wrong: " + planned.violations.front().message);
  }
  const bool is_net = loaded.model.storage.has_value();
  return {is_net ? std::move(loaded.model.graph) : std::move(loaded.lowered.graph), arena_bytes(planned.plan)};
}

LearnedFigures figures_of(const StaticRuntimeRun& run) {
  return {run.block, run.outputs_block, run.outside, run.grown, run.held};
}

StaticRuntimeRuns replay(const FirstRun& first, const std::vector<const Graph*>& graphs, bool manages_outputs) {
  StaticRuntimeOptions options{.manage_outputs = manages_outputs, .alignment = first_alignment(first.plan.machine)};
  if (first.loaded.model.storage) {
    options.keep = first.loaded.model.storage->unshared;
    options.devices = first.loaded.model.storage->devices;
  }
  Result<StaticRuntimeRuns> runs = static_runtime_runs(graphs, first.order, options);
  if (runs || runs.error().code != ErrorCode::mismatch) return take(std::move(runs), first.request.path);
  Error error = runs.error();
  error.message += "; Static Runtime learns sizes only for one graph";
  return take(Result<StaticRuntimeRuns>(std::move(error)), first.request.path);
}

}  // namespace

Bytes first_alignment(const Machine& machine) {
  return machine.regions[writable_regions(machine, WorkerId(0)).front().index()].alignment;
}

const Graph& baseline_graph(const LoadedModel& loaded) {
  return loaded.model.storage ? loaded.model.graph : loaded.lowered.graph;
}

std::optional<LearnedRuns> compare_runs(const Arguments& arguments, const FirstRun& first, const Target& target) {
  const bool manages_outputs = arguments.has("--manage-outputs");
  if (!arguments.has("--then")) {
    if (manages_outputs) stop_usage("--manage-outputs has no effect without --then; add a run, such as --then batch=8");
    return std::nullopt;
  }
  const bool has_symbols = first.loaded.model.format == "onnx";
  std::vector<ImportOptions> bindings = {first.request.bindings};
  for (ImportOptions& later : read_later_runs(arguments, first.request.bindings, has_symbols)) {
    bindings.push_back(std::move(later));
  }
  std::map<std::vector<std::string>, Sized> known;
  std::vector<const Graph*> graphs;
  LearnedRuns learned;
  const std::vector<std::string> of_first = written_bindings(bindings.front());
  for (const ImportOptions& one : bindings) {
    const std::vector<std::string> written = written_bindings(one);
    Bytes arena = arena_bytes(first.plan);
    if (written == of_first) {
      graphs.push_back(&baseline_graph(first.loaded));
    } else {
      ModelRequest request = first.request;
      request.bindings = one;
      if (!known.contains(written)) known.emplace(written, load_sized(request, target));
      graphs.push_back(&known.at(written).graph);
      arena = known.at(written).arena;
    }
    learned.arena = std::max(learned.arena, arena);
    learned.runs.push_back({.sizes = written.empty() ? shown_bindings(written) : listed(written), .arena = arena});
  }
  const StaticRuntimeRuns runs = replay(first, graphs, manages_outputs);
  for (std::size_t at = 0; at < learned.runs.size(); ++at) {
    learned.runs[at].side_by_side = figures_of(runs.side_by_side[at]);
    learned.runs[at].groups = figures_of(runs.groups[at]);
  }
  learned.managed = runs.managed;
  learned.managed_outputs = runs.managed_outputs;
  learned.groups = runs.group_count;
  return learned;
}

namespace {

Json json_of_figures(const LearnedFigures& figures) {
  return {{"block_bytes", figures.block.count()},
          {"outputs_block_bytes", figures.outputs_block.count()},
          {"outside_bytes", figures.outside.count()},
          {"grown", figures.grown},
          {"held_bytes", figures.held.count()}};
}

}  // namespace

Json json_of(const LearnedRuns& learned) {
  Json json;
  json["managed"] = learned.managed;
  json["managed_outputs"] = learned.managed_outputs;
  json["groups"] = learned.groups;
  json["arena_bytes"] = learned.arena.count();
  json["runs"] = Json::array();
  for (const LearnedRun& run : learned.runs) {
    json["runs"].push_back({{"sizes", json_text(run.sizes)},
                            {"side_by_side", json_of_figures(run.side_by_side)},
                            {"groups", json_of_figures(run.groups)},
                            {"arena_bytes", run.arena.count()}});
  }
  return json;
}

}  // namespace lowtide::cli_internal
