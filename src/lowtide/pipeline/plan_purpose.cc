// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_purpose.h"

#include <algorithm>
#include <optional>

namespace lowtide {
namespace {

// Neighbors on a curve share plans and bounds, so each point has a part of the efforts of a single budget.
constexpr std::int64_t kCurveShare = 4;

void limit_effort(PlanOptions& options) {
  options.order_effort = std::min(options.order_effort, kQuickOrderEffort);
  options.allocate_effort = std::min(options.allocate_effort, kQuickAllocateEffort);
}

PlanOptions of_graph(const PlanOptions& answer) {
  return {.budget = answer.budget,
          .order_effort = kQuickOrderEffort,
          .allocate_effort = kQuickAllocateEffort,
          .skip = {PlanStage::check_bound, PlanStage::verify},
          .stop = answer.stop};
}

PlanOptions of_point(const PlanOptions& answer) {
  PlanOptions options = answer;
  options.proof_effort = answer.recompute_effort / 10;
  options.recompute_effort /= kCurveShare;
  options.allocate_effort /= kCurveShare;
  return options;
}

// A plan on one stream and without a budget, to be shown beside the answer.
PlanOptions of_report(const PlanOptions& answer) {
  PlanOptions options{.order = answer.order,
                      .views = answer.views,
                      .parts = answer.parts,
                      .in_place = answer.in_place,
                      .order_effort = answer.order_effort,
                      .allocate_effort = answer.allocate_effort,
                      .stop = answer.stop};
  limit_effort(options);
  return options;
}

}  // namespace

PlanOptions options_for(PlanPurpose purpose, const PlanOptions& answer) {
  PlanOptions options = answer;
  switch (purpose) {
    case PlanPurpose::graph:
      options = of_graph(answer);
      options.skip.push_back(PlanStage::recompute);
      return options;
    case PlanPurpose::graph_with_reruns: return of_graph(answer);
    // A loader follows the order of the file.
    case PlanPurpose::load_time:
      return {.order = "as_given",
              .order_effort = 0,
              .allocate_effort = 0,
              .skip = {PlanStage::refine, PlanStage::check_bound, PlanStage::verify}};
    case PlanPurpose::curve_start: options.budget = std::nullopt; return options;
    case PlanPurpose::curve_graph:
      options.budget = std::nullopt;
      limit_effort(options);
      return options;
    case PlanPurpose::curve_point: return of_point(answer);
    case PlanPurpose::answer: return options;
    case PlanPurpose::integers:
    case PlanPurpose::as_written: return of_report(answer);
  }
  return options;
}

}  // namespace lowtide
