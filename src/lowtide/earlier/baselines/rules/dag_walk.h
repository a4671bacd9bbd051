// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide::baselines_internal {

// The most uses of free blocks that recycle_in_dag examines, which takes a few seconds.
inline constexpr std::int64_t kMostExaminedUses = 400'000'000;

// The walk of recycle_in_dag. It visits the ops depth-first, releases blocks after their last use, and gives free
// blocks to blobs at their first write. `FreeBlocks` has the free blocks of one device and chooses among them:
//
//   void insert(std::uint32_t block, Bytes size, std::int64_t sharers);  // size is 0 if the rule ignores sizes
//   std::optional<std::uint32_t> take(Bytes need, may_take);  // removes the preferred block that `may_take` accepts
template <typename FreeBlocks>
class DagWalk {
 public:
  DagWalk(const BlobNet& net, const DagRule& rule, const HappensBefore& runs) : net_(net), rule_(rule), runs_(runs) {
    choice_.block = IdVector<BlobId, std::optional<std::uint32_t>>(net.blobs.size());
    reads_left_ = IdVector<BlobId, std::uint32_t>(net.blobs.size(), 0);
    writes_left_ = reads_left_;
    uses_ = IdVector<BlobId, std::vector<std::uint32_t>>(net.blobs.size());
    waits_for_.assign(net.ops.size(), 0);
    next_.resize(net.ops.size());
    for (std::uint32_t at = 0; at < net.ops.size(); ++at) count_op(at);
  }

  Result<BlockChoice> run(std::int64_t* work) && {
    for (std::uint32_t at = 0; at < net_.ops.size(); ++at) {
      if (rule_.takes_part.test(at) && waits_for_[at] == 0 && !is_visited(at)) walk_from(at);
      if (examined_ > kMostExaminedUses)
        return too_large("uses of free buffers", kMostExaminedUses, "kMostExaminedUses");
    }
    drop_single_blocks();
    if (work != nullptr) *work = examined_;
    return std::move(choice_);
  }

 private:
  struct Frame {
    std::uint32_t at = 0;
    std::size_t next = 0;  // index into next_[at]
  };

  bool is_visited(std::uint32_t at) const { return waits_for_[at] == kVisited; }
  void count_op(std::uint32_t at);
  void walk_from(std::uint32_t start);
  void visit(std::uint32_t at);
  void place(BlobId id, std::uint32_t at);
  bool may_take(std::uint32_t block, std::uint32_t at);
  std::uint32_t block_of(BlobId id);
  void drop_single_blocks();

  static constexpr std::uint32_t kVisited = UINT32_MAX;
  const BlobNet& net_;
  const DagRule& rule_;
  const HappensBefore& runs_;
  BlockChoice choice_;
  IdVector<BlobId, std::uint32_t> reads_left_;  // by ops that take part
  IdVector<BlobId, std::uint32_t> writes_left_;
  IdVector<BlobId, std::vector<std::uint32_t>> uses_;  // by all ops
  std::vector<std::uint32_t> waits_for_;               // of each op: the number of sources not visited yet
  std::vector<std::vector<std::uint32_t>> next_;       // of each op: the ops that wait for it
  std::map<std::uint32_t, FreeBlocks> free_;           // by device
  std::int64_t examined_ = 0;                          // uses of free blocks examined
  std::vector<BlobId> user_;                           // of each block: the last blob
  std::vector<Bytes> size_;                            // of each block
  std::vector<std::int64_t> sharers_;                  // of each block
};

template <typename FreeBlocks>
void DagWalk<FreeBlocks>::count_op(std::uint32_t at) {
  const BlobOp& op = net_.ops[at];
  for (BlobId id : op.inputs) uses_[id].push_back(at);
  for (BlobId id : op.outputs) {
    if (uses_[id].empty() || uses_[id].back() != at) uses_[id].push_back(at);
  }
  if (!rule_.takes_part.test(at)) return;
  for (BlobId id : op.inputs) ++reads_left_[id];
  for (BlobId id : op.outputs) ++writes_left_[id];
  for (std::uint32_t source : net_.sources[at]) {
    if (!rule_.takes_part.test(source)) continue;
    ++waits_for_[at];
    next_[source].push_back(at);
  }
}

template <typename FreeBlocks>
void DagWalk<FreeBlocks>::walk_from(std::uint32_t start) {
  std::vector<Frame> path;
  visit(start);
  path.push_back({start});
  while (!path.empty()) {
    Frame& top = path.back();
    if (top.next == next_[top.at].size()) {
      path.pop_back();
      continue;
    }
    const std::uint32_t after = next_[top.at][top.next++];
    if (--waits_for_[after] != 0) continue;
    visit(after);
    path.push_back({after});
  }
}

template <typename FreeBlocks>
void DagWalk<FreeBlocks>::visit(std::uint32_t at) {
  waits_for_[at] = kVisited;
  const BlobOp& op = net_.ops[at];
  for (BlobId id : op.outputs) --writes_left_[id];
  std::vector<BlobId> released;
  for (BlobId id : op.inputs) {
    --reads_left_[id];
    const bool shares = rule_.may_move.test(id) || rule_.may_host.test(id);
    if (shares && reads_left_[id] == 0 && writes_left_[id] == 0) released.push_back(id);
  }
  for (BlobId id : op.outputs) {
    if (rule_.may_move.test(id) && net_.blobs[id].first == at) place(id, at);
  }
  for (BlobId id : released) {
    const std::uint32_t block = block_of(id);
    user_[block] = id;
    const Bytes size = rule_.by_size ? size_[block] : Bytes(0);
    free_[net_.blobs[id].device].insert(block, size, sharers_[block]);
  }
}

template <typename FreeBlocks>
bool DagWalk<FreeBlocks>::may_take(std::uint32_t block, std::uint32_t at) {
  const std::vector<std::uint32_t>& uses = uses_[user_[block]];
  const auto is_over = [&](std::uint32_t use) { return runs_.is_before(use, at); };
  const auto late = std::find_if_not(uses.begin(), uses.end(), is_over);
  examined_ += late - uses.begin() + 1;
  return late == uses.end();
}

// All blobs of a block are on one device. If too much was examined, the result is discarded.
template <typename FreeBlocks>
void DagWalk<FreeBlocks>::place(BlobId id, std::uint32_t at) {
  const auto free = free_.find(net_.blobs[id].device);
  if (free == free_.end() || examined_ > kMostExaminedUses) return;
  const Bytes need = rule_.by_size ? net_.blobs[id].size : Bytes(0);
  const std::optional<std::uint32_t> block =
      free->second.take(need, [&](std::uint32_t one) { return examined_ <= kMostExaminedUses && may_take(one, at); });
  if (!block) return;
  choice_.block[id] = block;
  ++sharers_[*block];
  size_[*block] = std::max(size_[*block], net_.blobs[id].size);
}

template <typename FreeBlocks>
std::uint32_t DagWalk<FreeBlocks>::block_of(BlobId id) {
  if (!choice_.block[id]) {
    choice_.block[id] = static_cast<std::uint32_t>(sharers_.size());
    sharers_.push_back(1);
    size_.push_back(net_.blobs[id].size);
    user_.push_back(id);
  }
  return *choice_.block[id];
}

// A block that only one blob uses keeps the name of the blob and is not counted.
template <typename FreeBlocks>
void DagWalk<FreeBlocks>::drop_single_blocks() {
  std::vector<std::optional<std::uint32_t>> number(sharers_.size());
  for (std::optional<std::uint32_t>& block : choice_.block) {
    if (!block) continue;
    if (sharers_[*block] < 2) {
      block.reset();
      continue;
    }
    std::optional<std::uint32_t>& to = number[*block];
    if (!to) {
      to = static_cast<std::uint32_t>(choice_.names.size());
      choice_.names.push_back("__m" + std::to_string(*to) + "_shared");
    }
    block = to;
  }
}

}  // namespace lowtide::baselines_internal
