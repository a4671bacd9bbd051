// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/plan/plan.h"

namespace lowtide::verify_internal {

// In which steps all of some bytes of a buffer live: those that every part with one of these bytes has in common.
//
//   parts      |  a, [0, 4)  |  b, [1, 9)  |  c, [2, 6)  |
//   bytes           |-----------------|                      [1, 4)
//
// A binary tree over the parts of each buffer; a node holds the latest begin and the earliest end below it.
class LivingBytes {
 public:
  // Require: the parts are well formed (check_form).
  explicit LivingBytes(const Plan& plan);

  // No bytes: as long as the buffer. May be empty. Require: the bytes are in the buffer. O(log parts).
  [[nodiscard]] Lifespan common_life(BufferId buffer, const Interval<std::int64_t>& bytes) const;

 private:
  struct Tree {
    std::vector<std::int64_t> ends;  // of the parts, in the buffer
    std::vector<Lifespan> common;    // node n has the children 2n and 2n + 1; the parts are the last ends.size()
  };

  const Plan& plan_;
  IdVector<BufferId, std::uint32_t> tree_of_;  // 0: no parts; else 1 + its tree
  std::vector<Tree> trees_;
};

}  // namespace lowtide::verify_internal
