// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"
#include "model.h"

namespace lowtide::python {

// What planning found, for the page. A plan that was read from a file has none of it.
struct Made {
  Request request;
  LoadedModel loaded;
  Target target;
  PlanOptions options;
  PlannedGraph planned;  // without its plan
};

// A plan with the names of its nodes and tensors. Immutable.
struct PlanHandle {
  Plan plan;
  Labels labels;
  bool is_verified = false;
  std::shared_ptr<const Made> made;
};

}  // namespace lowtide::python
