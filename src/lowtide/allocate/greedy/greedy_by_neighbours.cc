// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <tuple>

#include "lowtide/allocate/greedy/orders.h"

namespace lowtide::allocate_internal {

std::vector<PackingId> greedy_by_neighbours(const CompressedProblem& problem) {
  // Sizes add up to less than 2^62, and one buffer is a neighbour of another once.
  IdVector<PackingId, std::int64_t> bytes(problem.buffers.size(), 0);
  for (const PackingPair& pair : problem.pairs) {
    bytes[pair.first] += problem.buffers[pair.second].size;
    bytes[pair.second] += problem.buffers[pair.first].size;
  }
  std::vector<PackingId> order = problem.movable;
  const auto key = [&](PackingId id) { return std::tuple(-bytes[id], -problem.buffers[id].size, id); };
  std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) { return key(a) < key(b); });
  return order;
}

}  // namespace lowtide::allocate_internal
