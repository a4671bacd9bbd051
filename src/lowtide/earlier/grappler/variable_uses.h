// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "lowtide/earlier/grappler/typed_graph.h"

namespace lowtide::grappler_internal {

// Which nodes hold and write variables.
struct VariableUses {
  // By node: the variable whose memory its output is. The variable itself, what an Identity, a Reshape or another view
  // makes of it, and the reference that a node such as Assign returns. nullopt: other memory.
  std::vector<std::optional<NodeIndex>> variable_of;
  std::vector<std::vector<NodeIndex>> writes;  // by node: the variables that it writes
  std::vector<bool> is_written;                // by node: it is a variable that some node writes
};

// O(nodes + inputs, log).
[[nodiscard]] VariableUses find_variable_uses(const TypedGraph& graph);

}  // namespace lowtide::grappler_internal
