// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lowtide::allocate_internal {

// Pruning rules of the skyline search. Tests switch them off in all combinations, to show that no rule changes an
// answer and that each rule saves decisions.
struct SkylineRules {
  bool slack = true;            // a clique fails if its bottom plus its remaining bytes exceed the capacity
  bool start_bound = true;      // a clique fails if the buffers that cannot start below some height do not fit above it
  bool interchangeable = true;  // of interchangeable buffers, only the first one is tried
  bool components = true;       // components that share no remaining buffer are solved one after another
  bool nogoods = true;          // a state that has failed is not tried again
};

}  // namespace lowtide::allocate_internal
