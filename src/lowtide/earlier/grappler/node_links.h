// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"

namespace lowtide::grappler_internal {

using NodeIndex = std::uint32_t;

// Which nodes read which, by index. Control inputs count as inputs.
struct NodeLinks {
  std::unordered_map<std::string_view, NodeIndex> by_name;
  std::vector<std::vector<NodeIndex>> inputs;   // the node of each input, in the order of the inputs
  std::vector<std::vector<NodeIndex>> readers;  // each once, ascending
};

// Whether a node runs as soon as one of its inputs is there.
[[nodiscard]] bool is_merge(const DefNode& node);

// The links are valid as long as the names of the nodes. Errors: invalid (two nodes with one name, an input that does
// not exist), over_limit. O(nodes + inputs, log of the readers of a node).
[[nodiscard]] Result<NodeLinks> link_nodes(const std::vector<DefNode>& nodes);

// The order into which Grappler sorts nodes before it changes a graph: a node follows when the last of the nodes that
// it reads has followed, in the order in which that happens, and by index if it happens at once. An input of a Merge
// from a NextIteration, which closes a loop, counts as ready. Errors: invalid, for a cycle. O(nodes + inputs, log).
[[nodiscard]] Result<std::vector<NodeIndex>> sorted_order(const std::vector<DefNode>& nodes, const NodeLinks& links);

}  // namespace lowtide::grappler_internal
