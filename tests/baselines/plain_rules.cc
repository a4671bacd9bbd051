// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/baselines/plain_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>

#include "lowtide/analysis/happens_before.h"

namespace lowtide::testing {

using baselines_internal::BlobId;
using baselines_internal::BlobNet;
using baselines_internal::BlobOp;
using baselines_internal::BlockChoice;
using baselines_internal::DagRule;

IdVector<PackingId, std::uint32_t> plain_nearest_size_slots(const PackingProblem& problem) {
  struct Slot {
    std::int64_t end;
    Bytes size;
  };
  std::vector<PackingId> by_end;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) by_end.push_back(id);
  std::stable_sort(by_end.begin(), by_end.end(), [&](PackingId a, PackingId b) {
    return problem.buffers[a].lifespan.end < problem.buffers[b].lifespan.end;
  });
  std::vector<Slot> slots;
  IdVector<PackingId, std::uint32_t> slot_of(problem.buffers.size());
  for (PackingId id : by_end) {
    const PackingBuffer& buffer = problem.buffers[id];
    const auto distance = [&](std::size_t at) { return std::abs(slots[at].size.count() - buffer.size.count()); };
    std::size_t best = slots.size();
    for (std::size_t at = 0; at < slots.size(); ++at) {
      if (slots[at].end > buffer.lifespan.begin) continue;
      if (best == slots.size() || distance(at) < distance(best)) best = at;
    }
    if (best == slots.size()) slots.push_back({});
    slot_of[id] = static_cast<std::uint32_t>(best);
    slots[best] = {buffer.lifespan.end, std::max(slots[best].size, buffer.size)};
  }
  return slot_of;
}

namespace {

struct Taken {
  Offset begin;
  Offset end;
};

// Require: sorted by `begin`.
Offset smallest_gap(const std::vector<Taken>& taken, Bytes size) {
  std::optional<Bytes> best_gap;
  Offset best;
  Offset end;  // highest so far
  for (const Taken& one : taken) {
    if (one.begin > end || one.begin == end) {
      const Bytes gap = one.begin - end;
      if (gap >= size && gap > Bytes(0) && (!best_gap || gap < *best_gap)) {
        best_gap = gap;
        best = end;
      }
    }
    end = std::max(end, one.end);
  }
  return best_gap ? best : end;
}

}  // namespace

IdVector<PackingId, Offset> plain_largest_first_offsets(const PackingProblem& problem) {
  std::vector<PackingId> by_size;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) by_size.push_back(id);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](PackingId a, PackingId b) { return problem.buffers[a].size > problem.buffers[b].size; });
  IdVector<PackingId, Offset> offsets(problem.buffers.size());
  std::vector<Taken> taken;
  for (std::size_t at = 0; at < by_size.size(); ++at) {
    const PackingBuffer& buffer = problem.buffers[by_size[at]];
    taken.clear();
    for (std::size_t before = 0; before < at; ++before) {
      const PackingBuffer& other = problem.buffers[by_size[before]];
      if (!buffer.lifespan.overlaps(other.lifespan)) continue;
      const Offset begin = offsets[by_size[before]];
      taken.push_back({begin, begin + other.size});
    }
    std::sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
    offsets[by_size[at]] = smallest_gap(taken, buffer.size);
  }
  return offsets;
}

namespace {

// A block that nobody uses now.
struct FreeBlock {
  std::uint32_t block;
  std::int64_t sharers;
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

  BlockChoice run() && {
    for (std::uint32_t at = 0; at < net_.ops.size(); ++at) {
      if (rule_.takes_part[at] != 0 && waits_for_[at] == 0 && !is_visited(at)) walk_from(at);
    }
    drop_single_blocks();
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
  bool is_better(const FreeBlock& one, const FreeBlock& other, Bytes need) const;
  bool may_take(std::uint32_t block, BlobId id, std::uint32_t at) const;
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
  std::vector<FreeBlock> free_;
  std::vector<BlobId> user_;           // of each block: the last
  std::vector<Bytes> size_;            // of each block
  std::vector<std::int64_t> sharers_;  // of each block
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
    free_.push_back({block, sharers_[block]});
  }
}

// A block has its name from the blob that opened it, and blobs have their numbers in the order of their first use.
bool DagWalk::is_better(const FreeBlock& one, const FreeBlock& other, Bytes need) const {
  if (rule_.by_size) {
    const Bytes size = size_[one.block];
    const Bytes other_size = size_[other.block];
    const bool fits_inside = size <= need;
    const bool other_fits_inside = other_size <= need;
    if (fits_inside != other_fits_inside) return fits_inside;
    if (size != other_size) return fits_inside ? size > other_size : size < other_size;
  }
  if (one.sharers != other.sharers) return one.sharers > other.sharers;
  return one.block < other.block;
}

bool DagWalk::may_take(std::uint32_t block, BlobId id, std::uint32_t at) const {
  const BlobId before = user_[block];
  if (net_.blobs[before].device != net_.blobs[id].device) return false;
  return std::all_of(uses_[before].begin(), uses_[before].end(),
                     [&](std::uint32_t use) { return runs_.is_before(use, at); });
}

void DagWalk::place(BlobId id, std::uint32_t at) {
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < free_.size(); ++index) {
    if (best && !is_better(free_[index], free_[*best], net_.blobs[id].size)) continue;
    if (may_take(free_[index].block, id, at)) best = index;
  }
  if (!best) return;
  const std::uint32_t block = free_[*best].block;
  free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(*best));
  choice_.block[id] = block;
  ++sharers_[block];
  size_[block] = std::max(size_[block], net_.blobs[id].size);
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

Result<BlockChoice> plain_recycle_in_dag(const BlobNet& net, const DagRule& rule) {
  const Result<HappensBefore> runs = HappensBefore::make(chains_of(net.sources));
  if (!runs) return runs.error();
  return DagWalk(net, rule, *runs).run();
}

}  // namespace lowtide::testing
