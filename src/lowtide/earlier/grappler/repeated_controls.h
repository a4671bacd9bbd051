// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"

namespace lowtide::grappler_internal {

// Leaves out control inputs from nodes that a node has as an input already. The last control input takes the place of
// each, as in the original. A control input from an Identity of a Switch stays beside a data input: it runs on one
// branch alone. Errors: those of link_nodes. O(nodes + inputs, log).
[[nodiscard]] Result<void> drop_repeated_controls(std::vector<DefNode>& nodes);

}  // namespace lowtide::grappler_internal
