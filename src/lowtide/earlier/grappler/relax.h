// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"

namespace lowtide::grappler_internal {

// Marks each node that assigns a variable whose value does not need memory that a device can transfer from: nothing
// that may return the same memory is sent, or runs for another task or on the other side of a CPU and a GPU. If the
// graph has one device and sends nothing, all are marked. As in the original, the nodes behind the first Send are not
// looked at. Returns the names of the marked nodes, in the order of the nodes. Errors: those of link_nodes, if the
// graph has several devices or sends. O(nodes + inputs, log).
[[nodiscard]] Result<std::vector<std::string>> relax_assignments(std::vector<DefNode>& nodes);

}  // namespace lowtide::grappler_internal
