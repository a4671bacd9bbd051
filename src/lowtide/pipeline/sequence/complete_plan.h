// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// What a plan claims besides what follows from its layout.
struct PlanFacts {
  Bytes load_as_given;
  std::vector<Bound> bounds;
  Bytes load;
  std::string schedule;  // strategies
  std::string allocate;
};

// The complete plan: the draft, whose program and layout are final, with its provenance and claims. For the model's
// graph, also states its capacities (state_capacities), and aligns the bodies (align_bodies).
[[nodiscard]] Plan complete_plan(const Task& task, Plan draft, PlanFacts facts);

}  // namespace lowtide::pipeline_internal
