// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/parallel/parallel_plan.h"

#include <utility>

#include "lowtide/pipeline/sequence/complete_plan.h"

namespace lowtide::pipeline_internal {

Plan complete_parallel_plan(const Task& task, const Claims& sequential, Plan draft, Bytes load, std::string allocate) {
  return complete_plan(task, std::move(draft),
                       {.load_as_given = sequential.load_as_given,
                        .bounds = sequential.bounds,
                        .load = load,
                        .schedule = sequential.schedule,
                        .allocate = std::move(allocate)});
}

std::int64_t count_waits(const Program& program) {
  std::int64_t waits = 0;
  for (const Step& step : program.steps) waits += static_cast<std::int64_t>(step.after.size());
  return waits;
}

}  // namespace lowtide::pipeline_internal
