// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"

namespace lowtide::grappler_internal {

struct RecomputeRule {
  std::string target_scope;                           // of the nodes that read recomputed results
  std::function<bool(const DefNode&)> is_recomputed;  // of nodes outside of the scope that are not fed
};

struct RecomputedNodes {
  std::vector<std::string> names;  // of the nodes that have a copy now
  std::int64_t groups = 0;
};

// Sorts the nodes, and then copies groups of nodes, so that the nodes of the target scope read the copies. Errors:
// those of link_nodes and sorted_order; invalid (a new node has the name of a node that is there). O(nodes + inputs,
// log).
[[nodiscard]] Result<RecomputedNodes> recompute_groups(std::vector<DefNode>& nodes, const RecomputeRule& rule);

}  // namespace lowtide::grappler_internal
