// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/rules/first_fit.h"

#include <algorithm>
#include <optional>

#include "lowtide/earlier/baselines/rules/free_space.h"
#include "lowtide/earlier/baselines/rules/placed_spans.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide::baselines_internal {
namespace {

// Returns the start of the lowest free range that holds `size` bytes. Requires: `taken` is sorted by `begin`.
Offset lowest_free_range(const std::vector<AddressRange>& taken, Bytes size) {
  Offset end;  // the highest end so far
  for (const AddressRange& range : taken) {
    if (end + size < range.begin || end + size == range.begin) break;
    end = std::max(end, range.end);
  }
  return end;
}

// A bucket, and the highest end of its buffers that are live at the same time as another buffer.
struct BusyBucket {
  std::uint32_t bucket;
  Offset end;
};

// Returns the busy buckets in the order of opening, each once.
void list_busy(const BucketChoice& choice, const PackingProblem& problem, const std::vector<PackingId>& beside,
               std::vector<BusyBucket>& busy) {
  busy.clear();
  for (PackingId id : beside) {
    busy.push_back({choice.bucket[id], choice.offset[id] + problem.buffers[id].size});
  }
  std::sort(busy.begin(), busy.end(), [](const BusyBucket& a, const BusyBucket& b) {
    return a.bucket != b.bucket ? a.bucket < b.bucket : b.end < a.end;
  });
  const auto last = std::unique(busy.begin(), busy.end(),
                                [](const BusyBucket& a, const BusyBucket& b) { return a.bucket == b.bucket; });
  busy.erase(last, busy.end());
}

// Returns the first number that is not the number of a busy bucket.
std::uint32_t first_idle(const std::vector<BusyBucket>& busy) {
  std::uint32_t number = 0;
  while (number < busy.size() && busy[number].bucket == number) ++number;
  return number;
}

}  // namespace

std::int64_t count_pairs(const PackingProblem& problem) {
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
  for (const PackingBuffer& buffer : problem.buffers) {
    if (buffer.lifespan.empty()) continue;
    begins.push_back(buffer.lifespan.begin);
    ends.push_back(buffer.lifespan.end);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  // At the start of each buffer, counts its pairs with the buffers that have started before it and have not ended.
  std::int64_t pairs = 0;
  std::size_t ended = 0;
  for (std::size_t begun = 0; begun < begins.size(); ++begun) {
    while (ends[ended] <= begins[begun]) ++ended;
    pairs += static_cast<std::int64_t>(begun - ended);
  }
  return pairs;
}

Error too_many_pairs() {
  return too_large("pairs of tensors that are live at the same time", kMostPairs, "kMostPairs");
}

Result<IdVector<PackingId, Offset>> lowest_free_offsets(const PackingProblem& problem,
                                                        const std::vector<PackingId>& order, std::int64_t* work) {
  const std::int64_t pairs = count_pairs(problem);
  if (work != nullptr) *work = pairs;
  if (pairs > kMostPairs) return too_many_pairs();
  IdVector<PackingId, Offset> offsets(problem.buffers.size());
  PlacedSpans placed(problem.buffers);
  std::vector<PackingId> beside;
  std::vector<AddressRange> taken;
  for (PackingId id : order) {
    placed.list_overlapping(id, beside);
    taken.clear();
    for (PackingId other : beside) taken.push_back({offsets[other], offsets[other] + problem.buffers[other].size});
    std::sort(taken.begin(), taken.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
    offsets[id] = lowest_free_range(taken, problem.buffers[id].size);
    placed.mark(id);
  }
  return offsets;
}

Result<BucketChoice> bucket_offsets(const PackingProblem& problem, const std::vector<PackingId>& order,
                                    std::int64_t* work) {
  const std::int64_t pairs = count_pairs(problem);
  if (work != nullptr) *work = pairs;
  if (pairs > kMostPairs) return too_many_pairs();
  BucketChoice choice{.bucket = IdVector<PackingId, std::uint32_t>(problem.buffers.size()),
                      .offset = IdVector<PackingId, Offset>(problem.buffers.size())};
  PlacedSpans placed(problem.buffers);
  std::vector<PackingId> beside;
  std::vector<BusyBucket> busy;
  for (PackingId id : order) {
    const Bytes size = problem.buffers[id].size;
    placed.list_overlapping(id, beside);
    placed.mark(id);
    list_busy(choice, problem, beside, busy);
    choice.bucket[id] = first_idle(busy);
    if (choice.bucket[id] < choice.sizes.size()) continue;
    // An end of 0 means that the live buffers of the bucket are empty. The original then does not use the bucket.
    const auto space = std::find_if(busy.begin(), busy.end(), [&](const BusyBucket& one) {
      return one.end > Offset(0) && one.end - Offset(0) + size <= choice.sizes[one.bucket];
    });
    if (space != busy.end()) {
      choice.bucket[id] = space->bucket;
      choice.offset[id] = space->end;
    } else {
      choice.sizes.push_back(size);
    }
  }
  return choice;
}

}  // namespace lowtide::baselines_internal
