// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/lower.h"

#include <optional>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/graph/builder.h"
#include "lowtide/lower/inputs_in_arena.h"
#include "lowtide/lower/load_time.h"
#include "lowtide/lower/outputs_at_caller.h"

namespace lowtide {
namespace {

constexpr std::string_view kLoadTime = "load_time";
constexpr std::string_view kInputsInArena = "inputs_in_arena";
constexpr std::string_view kOutputsAtCaller = "outputs_at_caller";

bool has_equal_counts(const Graph& a, const Graph& b) {
  return a.total_nodes() == b.total_nodes() && a.total_tensors() == b.total_tensors();
}

}  // namespace

Result<Lowered> lower(const Graph& graph, const LowerOptions& options) {
  Result<Graph> nothing = GraphBuilder(graph.name()).build();
  if (!nothing) return nothing.error();
  std::optional<Lowered> made;
  if (options.load_time) {
    Result<LoadTimeSplit> split = split_load_time(graph);
    if (!split) return split.error();
    // The split only removes nodes and tensors, so it changed nothing if the counts are equal.
    const bool is_changed = !has_equal_counts(split->run.graph, graph);
    made = Lowered{std::move(split->run.graph), std::move(split->load), {}};
    if (is_changed) made->passes.emplace_back(kLoadTime);
  } else {
    made = Lowered{graph, *std::move(nothing), {}};
  }
  Lowered& lowered = *made;
  if (options.inputs_in_arena && !graph.inputs().empty()) {
    Result<Graph> with_inputs = place_inputs_in_arena(lowered.graph);
    if (!with_inputs) return with_inputs.error();
    lowered.graph = *std::move(with_inputs);
    lowered.passes.emplace_back(kInputsInArena);
  }
  if (options.outputs_at_caller && !graph.outputs().empty()) {
    Result<Graph> without_outputs = place_outputs_at_caller(lowered.graph);
    if (!without_outputs) return without_outputs.error();
    lowered.graph = *std::move(without_outputs);
    lowered.passes.emplace_back(kOutputsAtCaller);
  }
  return *std::move(made);
}

Result<LowerOptions> lower_options(const std::vector<std::string>& passes) {
  LowerOptions options{.load_time = false};
  for (const std::string& pass : passes) {
    if (pass == kLoadTime) {
      options.load_time = true;
    } else if (pass == kInputsInArena) {
      options.inputs_in_arena = true;
    } else if (pass == kOutputsAtCaller) {
      options.outputs_at_caller = true;
    } else {
      return Error{ErrorCode::unsupported, "this program has no lowering pass " + quoted(pass, 40),
                   "$.provenance.lowering"};
    }
  }
  return options;
}

}  // namespace lowtide
