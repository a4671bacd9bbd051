// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/grappler/simulate.h"
#include "lowtide/earlier/grappler/swaps.h"

namespace lowtide::grappler_internal {

// The numbers of inputs to swap by node.
class InputsToSwap {
 public:
  struct OfNode {
    NodeIndex node = 0;
    std::vector<std::int64_t> inputs;
  };

  // The inputs of a node, at first none.
  std::vector<std::int64_t>& of(NodeIndex node) {
    const auto [found, is_new] = places_.try_emplace(node, nodes_.size());
    if (is_new) nodes_.push_back({.node = node, .inputs = {}});
    return nodes_[found->second].inputs;
  }
  // In the order in which they were first asked for.
  [[nodiscard]] const std::vector<OfNode>& nodes() const { return nodes_; }

 private:
  std::unordered_map<NodeIndex, std::size_t> places_;
  std::vector<OfNode> nodes_;
};

// When nodes end, and what is live at the peaks. The peaks may be those of an earlier version of the graph.
struct KnownRun {
  const std::vector<DevicePeak>& peaks;
  const std::vector<std::int64_t>& ends;  // of the nodes, in whole microseconds
};

// Adds the later readers of outputs that are live at the peak of a GPU whose memory is less than its peak, until the
// peak less these outputs is below the memory.
void choose_by_memory(const TypedGraph& graph, const KnownRun& run, const Cluster& cluster, const SkipList& skipped,
                      InputsToSwap& chosen);

[[nodiscard]] bool has_swap_hint(const DefNode& node);

// Adds the inputs that the attributes _swap_to_host name. Errors: invalid (a number without a data input).
[[nodiscard]] Result<void> choose_by_hint(const TypedGraph& graph, InputsToSwap& chosen);

}  // namespace lowtide::grappler_internal
