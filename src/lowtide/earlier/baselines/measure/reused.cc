// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/measure/reused.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace lowtide::baselines_internal {
namespace {

// Ranges of bytes, without overlap.
class UsedRanges {
 public:
  // Adds a range, and returns whether one of its bytes was there. O(log n), amortized.
  bool add(Offset begin, Offset end) {
    auto at = ends_.upper_bound(begin);
    if (at != ends_.begin() && std::prev(at)->second > begin) --at;
    bool was_there = false;
    while (at != ends_.end() && at->first < end) {
      was_there = true;
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ends_.erase(at);
    }
    ends_.emplace(begin, end);
    return was_there;
  }

 private:
  std::map<Offset, Offset> ends_;  // by begin
};

std::int64_t reused_by_offsets(const BlobNet& net, const Decision& decision) {
  std::vector<UsedRanges> used(decision.names.size());  // offsets are those in a block
  std::int64_t reused = 0;
  for (BlobId id : arena_problem(net, decision).blobs) {
    const Offset begin = decision.offset[id];
    const Bytes size = net.blobs[id].size;
    if (size > Bytes(0) && used[*decision.block[id]].add(begin, begin + size)) ++reused;
  }
  return reused;
}

}  // namespace

std::int64_t count_reused(const BlobNet& net, const Decision& decision) {
  if (decision.has_offsets()) return reused_by_offsets(net, decision);
  std::vector<std::int64_t> blobs(decision.names.size());
  for (const std::optional<std::uint32_t>& block : decision.block) {
    if (block) ++blobs[*block];
  }
  std::int64_t reused = 0;
  for (std::int64_t count : blobs) reused += std::max<std::int64_t>(count - 1, 0);
  return reused;
}

}  // namespace lowtide::baselines_internal
