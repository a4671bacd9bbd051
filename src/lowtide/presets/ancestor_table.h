// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"

namespace lowtide::detail {

// Who runs before whom in every run. The nodes are covered by chains, each a path; of every node the table has the last
// node of each chain that runs before it. (Jagadish 1990, chain covers; the cover here is greedy, not least.)
//
//   a -> b -> d, a -> c      chains a b d | c; b: 1 of the first; d: 2 and 0; c: 1 and 0
//
// O((nodes + edges) x chains); near linear for networks of few branches.
class AncestorTable {
 public:
  // `sources`: of each node, those that it depends on, all of them earlier. Errors: over_limit, above 512 MiB.
  [[nodiscard]] static Result<AncestorTable> make(const std::vector<std::vector<std::uint32_t>>& sources);

  // Whether `first` runs before `second` in every run; not if they are the same.
  [[nodiscard]] bool is_before(std::uint32_t first, std::uint32_t second) const {
    return first != second && before_[std::size_t{second} * chains_ + chain_[first]] > place_[first];
  }
  [[nodiscard]] std::size_t chains() const { return chains_; }

 private:
  std::size_t chains_ = 0;
  std::vector<std::uint32_t> chain_;   // of each node
  std::vector<std::uint32_t> place_;   // of each node in its chain
  std::vector<std::uint32_t> before_;  // nodes x chains: how many of the chain come before, or are, the node
};

}  // namespace lowtide::detail
