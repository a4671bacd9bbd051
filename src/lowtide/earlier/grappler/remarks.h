// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/grappler/sums.h"

namespace lowtide::grappler_internal {

// What the passes had to do at a level.
struct PassChoice {
  bool recomputes = false;
  bool swaps = false;
  std::string target_scope;
};

// Sets has_hints and warnings, and adds the hints that were not followed to left_out. `nodes` are those before the
// passes. Errors: those of link_nodes and type_nodes. O(nodes + inputs, log).
[[nodiscard]] Result<void> add_remarks(const std::vector<DefNode>& nodes, const Surroundings& around,
                                       const PassChoice& passes, GrapplerResult& result);

}  // namespace lowtide::grappler_internal
