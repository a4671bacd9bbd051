// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Asks whether the node at position `use` comes before the one at `write` in every run. Positions count from 1.
struct OrderQuestion {
  std::uint32_t use = 0;
  std::uint32_t write = 0;
  TensorId earlier;  // for the message
  TensorId later;
};

// Returns the questions to which the answer is no. Nodes are ordered by data and by control. In each list of
// `together`, every use of a tensor also comes before the write of the next one. A node does not come before itself.
// Paths are followed forwards from 64 uses at a time, as bits. Questions of one length, up to a factor of 2, go
// together, so a short one never waits for a long one, and only positions between a use and its write are looked at.
// `work`: unless nullptr, set to the number of edges that were looked at.
[[nodiscard]] std::vector<OrderQuestion> not_ordered(const Graph& graph, const std::vector<NodeId>& order,
                                                     const std::vector<std::vector<TensorId>>& together,
                                                     std::vector<OrderQuestion> questions,
                                                     std::int64_t* work = nullptr);

}  // namespace lowtide::verify_internal
