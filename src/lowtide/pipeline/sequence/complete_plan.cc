// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/complete_plan.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "lowtide/pipeline/sequence/bodies.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/pipeline/task/shortfall.h"
#include "lowtide/pipeline/task/target_kernels.h"

namespace lowtide::pipeline_internal {
namespace {

// The names for Claims::uncounted. Recursion only over bodies.
void add_uncounted(const Graph& graph, const Catalogue& catalogue, std::set<std::string>& names) {
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Operator& op = graph.op(id);
    if (!op.traits.is_known && !catalogue.kernels(graph, id).front().is_memory_known)
      names.insert(op.domain.empty() ? op.type : op.domain + "::" + op.type);
    for (const Body& body : graph.node(id).bodies) add_uncounted(*body.graph, catalogue, names);
  }
}

std::vector<std::string> uncounted_operators(const Task& task) {
  std::set<std::string> names;
  add_uncounted(task.graph, *task.target.catalogue, names);
  return {names.begin(), names.end()};
}

}  // namespace

Plan complete_plan(const Task& task, Plan draft, PlanFacts facts) {
  draft.provenance = {.tool = task.options.tool,
                      .model = task.options.model,
                      .model_sha256 = task.options.model_sha256,
                      .graph = task.graph.name(),
                      .nodes = static_cast<std::int64_t>(task.graph.nodes().size()),
                      .tensors = static_cast<std::int64_t>(task.graph.tensors().size()),
                      .lowering = task.options.lowering,
                      .dims = task.options.dims,
                      .target = task.target.name,
                      .machine_key = task.target.machine_key};
  draft.claims = {.load_as_given = facts.load_as_given,
                  .load = facts.load,
                  .bounds = std::move(facts.bounds),
                  .schedule = std::move(facts.schedule),
                  .allocate = std::move(facts.allocate),
                  .allocate_optimal = arena_bytes(draft) == facts.load,
                  .uncounted = uncounted_operators(task)};
  draft.claims.schedule_optimal = bound_of(draft).bytes == facts.load;
  if (!task.is_body()) {
    state_capacities(draft, task);
    align_bodies(draft, alignments_of(task.target).most);
  }
  return draft;
}

}  // namespace lowtide::pipeline_internal
