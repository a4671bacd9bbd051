// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>

#include "lowtide/base/id.h"

namespace lowtide {

// Disjoint sets of ids (union-find with path halving). At first each id is a set of its own. The smallest id of a set
// represents it, so the result does not depend on the order of the joins. Amortised O(log count) per call.
template <typename IdType>
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    for (IdType id : all_ids<IdType>(count)) parent_[id] = id;
  }

  // The smallest id of the set that holds `id`.
  [[nodiscard]] IdType find(IdType id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }

  // Unites the sets that hold `a` and `b`.
  void join(IdType a, IdType b) {
    a = find(a);
    b = find(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  IdVector<IdType, IdType> parent_;
};

}  // namespace lowtide
