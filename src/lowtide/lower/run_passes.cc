// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/run_passes.h"

#include <optional>
#include <utility>

#include "lowtide/graph/builder.h"
#include "lowtide/graph/operand_types.h"
#include "lowtide/graph/rewrite.h"
#include "lowtide/lower/load/more_load_time.h"

namespace lowtide::lower_internal {
namespace {

class PassRunner {
 public:
  PassRunner(const Graph& model, Graph no_load, const LowerOptions& options)
      : options_(options), lowered_{model, std::move(no_load), {}} {}

  Result<void> run(const Pass& pass) {
    const bool lacks_table = pass.traits.has(PassTrait::needs_table) && options_.table == nullptr;
    const bool lacks_machine = pass.traits.has(PassTrait::asks_machine) && options_.machine == nullptr;
    if (!options_.passes.has(pass.id) || lacks_table || lacks_machine) return {};
    PassInput input{options_.table, options_.machine.get(), options_.constants, lowered_.load};
    Result<std::optional<Rewritten>> changed = pass.run(lowered_.graph, input);
    if (!changed) return changed.error();
    if (!*changed) return {};
    keep(pass.id, **std::move(changed));
    const bool moves_to_load = options_.passes.has(PassId::load_time);
    return pass.traits.has(PassTrait::adds_load_time) && moves_to_load ? move_to_load() : Result<void>();
  }

  Lowered finish(std::span<const Pass> table) && {
    for (const Pass& pass : table) {
      if (changed_by_.has(pass.id)) lowered_.passes.emplace_back(pass.name);
    }
    return std::move(lowered_);
  }

 private:
  // The weights are packed at load, even if the model has no other work on constants.
  Result<void> move_to_load() {
    Result<LoadTimeSplit> split = split_more_load_time(lowered_.graph, lowered_.load, options_.constants);
    if (!split) return split.error();
    lowered_.load = std::move(split->load);
    if (split->run) keep(PassId::load_time, *std::move(split->run));
    return {};
  }

  void keep(PassId pass, Rewritten rewritten) {
    changed_by_.insert(pass);
    lowered_.origins = lowered_.origins ? compose(*lowered_.origins, rewritten.origins) : std::move(rewritten.origins);
    lowered_.graph = std::move(rewritten.graph);
  }

  const LowerOptions& options_;
  Lowered lowered_;
  PassSet changed_by_;
};

}  // namespace

Result<Lowered> run_passes(std::span<const Pass> table, const Graph& graph, const LowerOptions& options) {
  if (options.checks_types) LOWTIDE_RETURN_IF_ERROR(check_operand_types(graph));  // the passes rely on them
  Result<Graph> no_load = GraphBuilder(graph.name()).build();
  if (!no_load) return no_load.error();
  PassRunner runner(graph, *std::move(no_load), options);
  for (const Pass& pass : table) LOWTIDE_RETURN_IF_ERROR(runner.run(pass));
  return std::move(runner).finish(table);
}

}  // namespace lowtide::lower_internal
