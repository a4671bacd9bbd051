// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// A plan with the names of its nodes and tensors, as in a plan file.
struct NamedPlan {
  const Plan& plan;
  const Labels& labels;
};

struct PageOptions {
  const NamedPlan* against = nullptr;  // a second plan to compare with (before / after)
  bool is_verified = false;            // whether the caller has verified the plan against its model; the page says so
};

// One self-contained HTML page, offline, that shows where every buffer is and when: x = step, y = address.
// Deterministic: the same plan and options give the same bytes. O(steps + values + buffers). Requires: the plan is
// well-formed, as read_plan_json and the planner make it, and the labels are of its graph.
[[nodiscard]] std::string page(const NamedPlan& shown, const PageOptions& options = {});

}  // namespace lowtide
