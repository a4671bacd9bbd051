// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/lower.h"

#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/lower/inputs_in_arena.h"
#include "lowtide/lower/load_time.h"
#include "lowtide/lower/outputs_at_caller.h"

namespace lowtide {
namespace {

bool has_equal_counts(const Graph& a, const Graph& b) {
  return a.total_nodes() == b.total_nodes() && a.total_tensors() == b.total_tensors();
}

}  // namespace

Result<Lowered> lower(const Graph& graph, const LowerOptions& options) {
  Result<Graph> no_load = GraphBuilder(graph.name()).build();
  if (!no_load) return no_load.error();
  Lowered lowered{graph, *std::move(no_load), {}};
  if (options.load_time) {
    Result<LoadTimeSplit> split = split_load_time(graph, options.constants);
    if (!split) return split.error();
    // The split only removes nodes and tensors, so it changed nothing if the counts are equal.
    if (!has_equal_counts(split->run.graph, graph)) lowered.passes.emplace_back(kLoadTimePass);
    lowered.graph = std::move(split->run.graph);
    lowered.load = std::move(split->load);
  }
  if (options.inputs_in_arena && !graph.inputs().empty()) {
    Result<Graph> with_inputs = place_inputs_in_arena(lowered.graph);
    if (!with_inputs) return with_inputs.error();
    lowered.graph = *std::move(with_inputs);
    lowered.passes.emplace_back(kInputsInArenaPass);
  }
  if (options.outputs_at_caller && !graph.outputs().empty()) {
    Result<Graph> without_outputs = place_outputs_at_caller(lowered.graph);
    if (!without_outputs) return without_outputs.error();
    lowered.graph = *std::move(without_outputs);
    lowered.passes.emplace_back(kOutputsAtCallerPass);
  }
  return lowered;
}

Result<LowerOptions> lower_options(const std::vector<std::string>& passes) {
  LowerOptions options{.load_time = false};
  for (const std::string& pass : passes) {
    if (pass == kLoadTimePass) {
      options.load_time = true;
    } else if (pass == kInputsInArenaPass) {
      options.inputs_in_arena = true;
    } else if (pass == kOutputsAtCallerPass) {
      options.outputs_at_caller = true;
    } else {
      return Error{ErrorCode::unsupported, "this program has no lowering pass " + quoted(pass, 40),
                   "$.provenance.lowering"};
    }
  }
  return options;
}

}  // namespace lowtide
