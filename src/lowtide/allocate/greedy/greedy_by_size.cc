// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <tuple>

#include "lowtide/allocate/greedy/orders.h"

namespace lowtide::allocate_internal {

std::vector<PackingId> greedy_by_size(const CompressedProblem& problem) {
  std::vector<PackingId> order = problem.movable;
  const auto key = [&](PackingId id) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    return std::tuple(-buffer.size, buffer.hull.begin, id);
  };
  std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) { return key(a) < key(b); });
  return order;
}

}  // namespace lowtide::allocate_internal
