// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <tuple>

#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/base/checked.h"

namespace lowtide::allocate_internal {

std::vector<PackingId> greedy_by_area(const CompressedProblem& problem) {
  std::vector<PackingId> order = problem.movable;
  const auto key = [&](PackingId id) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    const std::int64_t length = buffer.hull.end - buffer.hull.begin;
    // An area beyond 63 bits is simply the largest; the size decides among such.
    const std::int64_t area = checked_multiply(buffer.size, length).value_or(std::numeric_limits<std::int64_t>::max());
    return std::tuple(-area, -buffer.size, id);
  };
  std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) { return key(a) < key(b); });
  return order;
}

}  // namespace lowtide::allocate_internal
