// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/id.h"
#include "lowtide/plan/program.h"

namespace lowtide {

// The graph of a model, or one of its bodies, in an executable. Id 0 is the graph of the model.
using PreparedGraphId = Id<struct PreparedGraphTag>;
inline constexpr PreparedGraphId kMainGraph{0};

// A step of one of the plans of an executable.
struct RunPlace {
  PreparedGraphId graph;
  StepId step;
  friend bool operator==(const RunPlace&, const RunPlace&) = default;
};

}  // namespace lowtide
