// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/baselines/sharing_rules.h"

namespace lowtide::baselines_internal {
namespace {

// Uses of free blocks that are looked at: some seconds.
constexpr std::int64_t kMostLooks = 400'000'000;

// The blocks of a device that are free, in the order in which the rule prefers them.
//
// By size: the largest that is not above what is needed, and so on down; then the smallest above, and so on up. Among
// equal sizes, and among all where sizes play no part: the block that most blobs share, then the one opened first.
// A block has its name from the blob that opened it, and blobs have their numbers in the order of their first use.
class FreeBlocks {
 public:
  void insert(std::uint32_t block, Bytes size, std::int64_t sharers) { by_size_[size].insert({-sharers, block}); }

  // The first that `may_take` takes; it is free no more.
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
      if (rule_.takes_part[at] != 0 && waits_for_[at] == 0 && !is_visited(at)) walk_from(at);
      if (looks_ > kMostLooks) return too_large("uses of free buffers", kMostLooks, "kMostLooks");
    }
    drop_single_blocks();
    if (work != nullptr) *work = looks_;
    return std::move(choice_);
  }

 private:
  struct Frame {
    std::uint32_t at;
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
  std::vector<std::uint32_t> waits_for_;               // of each op: sources not visited yet
  std::vector<std::vector<std::uint32_t>> next_;       // of each op: who waits for it
  std::map<std::uint32_t, FreeBlocks> free_;           // by device
  std::int64_t looks_ = 0;                             // at uses of free blocks
  std::vector<BlobId> user_;                           // of each block: the last
  std::vector<Bytes> size_;                            // of each block
  std::vector<std::int64_t> sharers_;                  // of each block
};

void DagWalk::count_op(std::uint32_t at) {
  const BlobOp& op = net_.ops[at];
  for (BlobId id : op.inputs) uses_[id].push_back(at);
  for (BlobId id : op.outputs) {
    if (uses_[id].empty() || uses_[id].back() != at) uses_[id].push_back(at);
  }
  if (rule_.takes_part[at] == 0) return;
  for (BlobId id : op.inputs) ++reads_left_[id];
  for (BlobId id : op.outputs) ++writes_left_[id];
  for (std::uint32_t source : net_.sources[at]) {
    if (rule_.takes_part[source] == 0) continue;
    ++waits_for_[at];
    next_[source].push_back(at);
  }
}

void DagWalk::walk_from(std::uint32_t start) {
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

void DagWalk::visit(std::uint32_t at) {
  waits_for_[at] = kVisited;
  const BlobOp& op = net_.ops[at];
  for (BlobId id : op.outputs) --writes_left_[id];
  std::vector<BlobId> released;
  for (BlobId id : op.inputs) {
    --reads_left_[id];
    const bool shares = rule_.may_move[id] != 0 || rule_.may_host[id] != 0;
    if (shares && reads_left_[id] == 0 && writes_left_[id] == 0) released.push_back(id);
  }
  for (BlobId id : op.outputs) {
    if (rule_.may_move[id] != 0 && net_.blobs[id].first == at) place(id, at);
  }
  for (BlobId id : released) {
    const std::uint32_t block = block_of(id);
    user_[block] = id;
    const Bytes size = rule_.by_size ? size_[block] : Bytes(0);
    free_[net_.blobs[id].device].insert(block, size, sharers_[block]);
  }
}

bool DagWalk::may_take(std::uint32_t block, std::uint32_t at) {
  const std::vector<std::uint32_t>& uses = uses_[user_[block]];
  const auto is_over = [&](std::uint32_t use) { return runs_.is_before(use, at); };
  const auto late = std::find_if_not(uses.begin(), uses.end(), is_over);
  looks_ += late - uses.begin() + 1;
  return late == uses.end();
}

// All blobs of a block are on one device. Once too much was looked at, the result is not wanted any more.
void DagWalk::place(BlobId id, std::uint32_t at) {
  const auto free = free_.find(net_.blobs[id].device);
  if (free == free_.end() || looks_ > kMostLooks) return;
  const Bytes need = rule_.by_size ? net_.blobs[id].size : Bytes(0);
  const std::optional<std::uint32_t> block =
      free->second.take(need, [&](std::uint32_t one) { return looks_ <= kMostLooks && may_take(one, at); });
  if (!block) return;
  choice_.block[id] = *block;
  ++sharers_[*block];
  size_[*block] = std::max(size_[*block], net_.blobs[id].size);
}

std::uint32_t DagWalk::block_of(BlobId id) {
  if (!choice_.block[id]) {
    choice_.block[id] = static_cast<std::uint32_t>(sharers_.size());
    sharers_.push_back(1);
    size_.push_back(net_.blobs[id].size);
    user_.push_back(id);
  }
  return *choice_.block[id];
}

// A block that only the blob that opened it has used keeps that blob's name, and is not counted.
void DagWalk::drop_single_blocks() {
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

}  // namespace

Result<BlockChoice> recycle_in_dag(const BlobNet& net, const DagRule& rule, std::int64_t* work) {
  const Result<HappensBefore> runs = HappensBefore::make(chains_of(net.sources));
  if (!runs) return runs.error();
  return DagWalk(net, rule, *runs).run(work);
}

}  // namespace lowtide::baselines_internal
