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
// `same_place`, every use of a tensor also comes before the write of the next one. A node does not come before itself.
// Follows paths forwards from 64 uses at a time, with one bit per use, and visits only positions between a use and its
// write. The 64 uses have similar distances to their writes, up to a factor of 2, so that no question pays for a much
// longer one. `work`: unless nullptr, set to the number of edges that were visited.
[[nodiscard]] std::vector<OrderQuestion> not_ordered(const Graph& graph, const std::vector<NodeId>& order,
                                                     const std::vector<std::vector<TensorId>>& same_place,
                                                     std::vector<OrderQuestion> questions,
                                                     std::int64_t* work = nullptr);

}  // namespace lowtide::verify_internal
