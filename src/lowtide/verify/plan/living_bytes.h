// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/plan/plan.h"

namespace lowtide::verify_internal {

// The steps in which all bytes of a range of a buffer live: those common to the lifespans of all parts that the range
// touches.
//
//   parts      |  a, [0, 4)  |  b, [1, 9)  |  c, [2, 6)  |
//   bytes           |-----------------|                      [1, 4)
//
// Each buffer has a binary tree over its parts. A node holds the latest begin and the earliest end below it.
class LivingBytes {
 public:
  // Requires: the parts are well formed (check_form).
  explicit LivingBytes(const Plan& plan);

  // For an empty range, returns the lifespan of the buffer. The result may be empty. Requires: the bytes are in it.
  // O(log parts).
  [[nodiscard]] Lifespan common_life(BufferId buffer, const Interval<std::int64_t>& bytes) const;

 private:
  struct Tree {
    std::vector<std::int64_t> ends;  // of the parts, in the buffer
    std::vector<Lifespan> common;    // node n has the children 2n and 2n + 1; the parts are the last ends.size()
  };

  const Plan& plan_;
  IdVector<BufferId, std::uint32_t> tree_of_;  // 1 + the tree of the buffer, or 0 if it has no parts
  std::vector<Tree> trees_;
};

}  // namespace lowtide::verify_internal
