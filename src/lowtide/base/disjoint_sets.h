// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>

#include "lowtide/base/id.h"

namespace lowtide {

// Ids in sets that are joined two at a time (union-find with path halving). At first each is on its own. The least id of
// a set stands for it, whatever the order of the joins. Amortised O(log count) a call.
template <typename IdType>
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    for (IdType id : all_ids<IdType>(count)) parent_[id] = id;
  }

  // The least id of the set.
  [[nodiscard]] IdType find(IdType id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }

  void join(IdType a, IdType b) {
    a = find(a);
    b = find(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  IdVector<IdType, IdType> parent_;
};

}  // namespace lowtide
