// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"

namespace lowtide {

// How messages name a node beside its operator: its name or, if it has none, "node that writes y". A node without
// outputs is "node 3".
[[nodiscard]] std::string node_name(const Graph& graph, NodeId id);

}  // namespace lowtide
