// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/lowering_facts.h"

#include "lowtide/base/check.h"
#include "lowtide/base/try.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/pipeline/plan_purpose.h"
#include "lowtide/target/target.h"

namespace lowtide {
namespace {

Result<AsWritten> plan_as_written(const Graph& model, LowerOptions lowering, const PlanOptions& given) {
  lowering.passes = lowering.passes - passes_for(PassUse::kernels) - passes_for(PassUse::integers);
  LOWTIDE_TRY(const Lowered lowered, lower(model, lowering));
  LOWTIDE_TRY(const PlannedGraph planned,
              plan_graph(lowered.graph, dense_target(), options_for(PlanPurpose::as_written, given)));
  LOWTIDE_CHECK(planned.violations.empty(), "the plan of the model as written is correct");
  return AsWritten{planned.plan.claims.load, arena_bytes(planned.plan)};
}

}  // namespace

Result<std::optional<LoweringFacts>> lowering_facts(const Graph& model, const Lowered& lowered,
                                                    const LowerOptions& lowering, const PlanOptions& options) {
  if ((lowering.passes & passes_for(PassUse::kernels)).empty()) return std::optional<LoweringFacts>();
  LoweringFacts facts =
      compare_lowered(model, lowered.graph, lowered.load, lowered.origins ? &*lowered.origins : nullptr);
  if (model.total_nodes() <= kMostReportedNodes) {
    const Result<AsWritten> as_written = plan_as_written(model, lowering, options);
    if (!as_written) return as_written.error();
    facts.as_written = *as_written;
  }
  return std::optional(std::move(facts));
}

}  // namespace lowtide
