// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/model/quantized.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/lower/estimate/integer_operators.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/pipeline/plan_purpose.h"

namespace lowtide::cli_internal {
namespace {

// Recursion is bounded by limits::kMaxBodyNesting.
bool is_quantizing(const Graph& graph) {
  const IdVector<OperatorId, Operator>& operators = graph.operators();
  const auto quantizes = [](const Operator& op) { return op.type == "QuantizeLinear"; };
  if (std::any_of(operators.begin(), operators.end(), quantizes)) return true;
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return std::any_of(node.bodies.begin(), node.bodies.end(),
                       [](const Body& body) { return is_quantizing(*body.graph); });
  });
}

Result<IntegerEstimate> estimate(const Graph& graph, LowerOptions lowering, const Target& target,
                                 const PlanOptions& given) {
  lowering.checks_types = false;
  LOWTIDE_TRY(const Lowered lowered, lower(graph, lowering));
  LOWTIDE_TRY(const PlannedGraph planned, plan_graph(lowered.graph, target, options_for(PlanPurpose::integers, given)));
  LOWTIDE_CHECK(planned.violations.empty(), "the plan of the graph with integer operators is correct");
  const Bytes arena = arena_bytes(planned.plan);
  const Bytes bound = bound_of(planned.plan).bytes;
  return IntegerEstimate{arena, bound, counts_all(planned.plan.claims) && arena == bound};
}

}  // namespace

std::optional<QuantizedFacts> quantized_facts(const LoadedModel& loaded, const LowerOptions& lowering,
                                              const Target& target, const PlanOptions& options) {
  const bool runs_integers = lowering.passes.has(PassId::quantized);
  const Graph& given = runs_integers ? loaded.lowered.graph : loaded.model.graph;
  // Most models are not quantized. This check avoids a copy of their graph.
  if (!is_quantizing(given)) return std::nullopt;
  const IntegerOperators integers = take(use_integer_operators(given), loaded.facts.path);
  if (integers.operators == 0) return std::nullopt;
  QuantizedFacts facts{
      .operators = integers.operators, .estimate = std::nullopt, .are_others_on_integers = runs_integers};
  const Graph& graph = integers.rewritten.graph;
  if (!runs_integers && graph.total_nodes() <= kMostReportedNodes)
    facts.estimate = take(estimate(graph, lowering, target, options));
  return facts;
}

Json json_of(const std::optional<QuantizedFacts>& facts) {
  if (!facts) return nullptr;
  Json json{{"operators", facts->operators}, {"estimate", nullptr}};
  if (facts->estimate) {
    json["estimate"] = {{"arena_bytes", facts->estimate->arena.count()},
                        {"bound_bytes", facts->estimate->bound.count()},
                        {"proven_optimal", facts->estimate->is_proven}};
  }
  return json;
}

}  // namespace lowtide::cli_internal
