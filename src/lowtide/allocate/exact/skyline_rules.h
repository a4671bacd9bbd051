// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lowtide::allocate_internal {

// Pruning rules of the skyline search. Tests switch them off in all combinations, to show that none of them changes an
// answer and that each of them saves decisions.
struct SkylineRules {
  bool slack = true;            // a clique whose floor and remaining bytes exceed the capacity is a dead end
  bool start_bound = true;      // so is one in which the buffers that can only start higher up do not fit up there
  bool interchangeable = true;  // of buffers that are alike in everything, the first is placed first
  bool components = true;       // parts that no remaining buffer joins are solved one after another
  bool nogoods = true;          // a state that failed is not tried again
};

}  // namespace lowtide::allocate_internal
