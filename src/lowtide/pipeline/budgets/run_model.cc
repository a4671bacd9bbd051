// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/budgets/run_model.h"

#include "lowtide/plan/transfers.h"

namespace lowtide::pipeline_internal {

void count_in_nanoseconds(RunModel& model) {
  const std::int64_t nanoseconds = (model.unit + kPicosecondsPerNanosecond - 1) / kPicosecondsPerNanosecond;
  const std::int64_t unit = nanoseconds * kPicosecondsPerNanosecond;
  for (BudgetNode& node : model.problem.nodes) node.cost = node.cost * model.unit / unit;
  model.unit = unit;
}

}  // namespace lowtide::pipeline_internal
