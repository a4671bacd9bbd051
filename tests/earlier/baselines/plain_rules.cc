// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/plain_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/earlier/baselines/rules/dag_walk.h"
#include "lowtide/earlier/baselines/rules/free_space.h"

namespace lowtide::testing {

using baselines_internal::AddressRange;
using baselines_internal::BlobNet;
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

IdVector<PackingId, Offset> plain_largest_first_offsets(const PackingProblem& problem) {
  std::vector<PackingId> by_size;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) by_size.push_back(id);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](PackingId a, PackingId b) { return problem.buffers[a].size > problem.buffers[b].size; });
  IdVector<PackingId, Offset> offsets(problem.buffers.size());
  std::vector<AddressRange> taken;
  for (std::size_t at = 0; at < by_size.size(); ++at) {
    const PackingBuffer& buffer = problem.buffers[by_size[at]];
    taken.clear();
    for (std::size_t before = 0; before < at; ++before) {
      const PackingBuffer& other = problem.buffers[by_size[before]];
      if (!buffer.lifespan.overlaps(other.lifespan)) continue;
      const Offset begin = offsets[by_size[before]];
      taken.push_back({begin, begin + other.size});
    }
    std::sort(taken.begin(), taken.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
    offsets[by_size[at]] = baselines_internal::smallest_free_range(taken, buffer.size);
  }
  return offsets;
}

// Examines all placed buffers from the lowest to the highest, as the original does.
IdVector<PackingId, Offset> plain_lowest_free_offsets(const PackingProblem& problem,
                                                      const std::vector<PackingId>& order) {
  IdVector<PackingId, Offset> offsets(problem.buffers.size());
  std::vector<PackingId> placed;  // sorted by offset
  for (PackingId id : order) {
    const PackingBuffer& buffer = problem.buffers[id];
    Offset candidate;
    for (PackingId other : placed) {
      if (!buffer.lifespan.overlaps(problem.buffers[other].lifespan)) continue;
      if (offsets[other].position() - candidate.position() >= buffer.size.count()) break;
      candidate = std::max(candidate, offsets[other] + problem.buffers[other].size);
    }
    offsets[id] = candidate;
    const auto above =
        std::find_if(placed.begin(), placed.end(), [&](PackingId other) { return candidate < offsets[other]; });
    placed.insert(above, id);
  }
  return offsets;
}

// Examines all buffers of each bucket, as the original does.
baselines_internal::BucketChoice plain_bucket_offsets(const PackingProblem& problem,
                                                      const std::vector<PackingId>& order) {
  baselines_internal::BucketChoice choice{.bucket = IdVector<PackingId, std::uint32_t>(problem.buffers.size()),
                                          .offset = IdVector<PackingId, Offset>(problem.buffers.size())};
  std::vector<std::vector<PackingId>> content;
  for (PackingId id : order) {
    const PackingBuffer& buffer = problem.buffers[id];
    const auto is_beside = [&](PackingId other) { return buffer.lifespan.overlaps(problem.buffers[other].lifespan); };
    const auto top = [&](const std::vector<PackingId>& bucket) {
      Offset end;
      for (PackingId other : bucket) {
        if (is_beside(other)) end = std::max(end, choice.offset[other] + problem.buffers[other].size);
      }
      return end;
    };
    auto found = std::find_if(content.begin(), content.end(), [&](const std::vector<PackingId>& bucket) {
      return std::none_of(bucket.begin(), bucket.end(), is_beside);
    });
    if (found == content.end()) {
      found = std::find_if(content.begin(), content.end(), [&](const std::vector<PackingId>& bucket) {
        const std::int64_t end = top(bucket).position();
        return end > 0 && end + buffer.size.count() <= problem.buffers[bucket.front()].size.count();
      });
      if (found != content.end()) choice.offset[id] = top(*found);
    }
    if (found == content.end()) {
      found = content.insert(content.end(), std::vector<PackingId>());
      choice.sizes.push_back(buffer.size);
    }
    choice.bucket[id] = static_cast<std::uint32_t>(found - content.begin());
    found->push_back(id);
  }
  return choice;
}

namespace {

// Examines all free blocks, as the original does.
class ScannedBlocks {
 public:
  void insert(std::uint32_t block, Bytes size, std::int64_t sharers) { blocks_.push_back({block, size, sharers}); }

  template <typename MayTake>
  std::optional<std::uint32_t> take(Bytes need, MayTake may_take) {
    auto best = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (best != blocks_.end() && !is_better(*block, *best, need)) continue;
      if (may_take(block->number)) best = block;
    }
    if (best == blocks_.end()) return std::nullopt;
    const std::uint32_t number = best->number;
    blocks_.erase(best);
    return number;
  }

 private:
  struct FreeBlock {
    std::uint32_t number;
    Bytes size;
    std::int64_t sharers;
  };

  // A block has the number of the blob that opened it, and blobs are numbered in the order of their first use.
  static bool is_better(const FreeBlock& one, const FreeBlock& other, Bytes need) {
    const bool fits_inside = one.size <= need;
    const bool other_fits_inside = other.size <= need;
    if (fits_inside != other_fits_inside) return fits_inside;
    if (one.size != other.size) return fits_inside ? one.size > other.size : one.size < other.size;
    if (one.sharers != other.sharers) return one.sharers > other.sharers;
    return one.number < other.number;
  }

  std::vector<FreeBlock> blocks_;
};

}  // namespace

Result<BlockChoice> plain_recycle_in_dag(const BlobNet& net, const DagRule& rule) {
  const Result<HappensBefore> runs = HappensBefore::make(chains_of(net.sources));
  if (!runs) return runs.error();
  return baselines_internal::DagWalk<ScannedBlocks>(net, rule, *runs).run(nullptr);
}

}  // namespace lowtide::testing
