// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/rules/dag_walk.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide::baselines_internal {
namespace {

// The free blocks of a device, in the order in which the rule prefers them.
//
// With sizes: the largest that is at most the needed size, then the next smaller ones; then the smallest above it,
// then the next larger ones. Among equal sizes, and among all blocks without sizes: the block that most blobs share,
// then the block opened first. Blocks are numbered in the order in which they are opened.
class FreeBlocks {
 public:
  void insert(std::uint32_t block, Bytes size, std::int64_t sharers) { by_size_[size].insert({-sharers, block}); }

  // Removes and returns the first block that `may_take` accepts.
  template <typename MayTake>
  std::optional<std::uint32_t> take(Bytes need, MayTake may_take) {
    const auto above = by_size_.upper_bound(need);
    for (auto group = above; group != by_size_.begin();) {
      --group;
      if (const std::optional<std::uint32_t> block = take_from(group, may_take)) return block;
    }
    for (auto group = above; group != by_size_.end(); ++group) {
      if (const std::optional<std::uint32_t> block = take_from(group, may_take)) return block;
    }
    return std::nullopt;
  }

 private:
  using Group = std::set<std::pair<std::int64_t, std::uint32_t>>;  // (-sharers, block)

  template <typename MayTake>
  std::optional<std::uint32_t> take_from(std::map<Bytes, Group>::iterator at, MayTake may_take) {
    Group& group = at->second;
    for (auto one = group.begin(); one != group.end(); ++one) {
      const std::uint32_t block = one->second;
      if (!may_take(block)) continue;
      group.erase(one);
      if (group.empty()) by_size_.erase(at);
      return block;
    }
    return std::nullopt;
  }

  std::map<Bytes, Group> by_size_;
};

}  // namespace

Result<BlockChoice> recycle_in_dag(const BlobNet& net, const DagRule& rule, std::int64_t* work) {
  LOWTIDE_TRY(const HappensBefore runs, HappensBefore::make(chains_of(net.sources)));
  return DagWalk<FreeBlocks>(net, rule, runs).run(work);
}

}  // namespace lowtide::baselines_internal
