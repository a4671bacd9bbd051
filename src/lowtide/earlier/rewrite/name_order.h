// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/netdef/graph_of_net.h"
#include "lowtide/graph/graph.h"

namespace lowtide::rewrite_internal {

// Returns an order of the nodes with a low peak in which the names of the net can stay: all readers of a tensor come
// before the node that writes the next tensor of the same blob. Nodes that may have effects of their own keep their
// order. Errors: those of plan_graph.
[[nodiscard]] Result<std::vector<NodeId>> name_order(const NetGraph& net);

// Returns Caffe2's order `longest_path`, in which the names of the net can stay as well. As in the original, nodes with
// effects have no order among themselves. Errors: those of plan_graph.
[[nodiscard]] Result<std::vector<NodeId>> longest_path_order(const NetGraph& net);

}  // namespace lowtide::rewrite_internal
