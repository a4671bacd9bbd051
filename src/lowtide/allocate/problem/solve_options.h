// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// AllocateOptions for the solvers of the room: effort and stop flag are the Effort that the solver spends.
struct SolveOptions {
  Effort effort;
  int threads = 1;
  std::function<void(const Packing&)> on_improvement = {};  // may be empty
};

}  // namespace lowtide::allocate_internal
