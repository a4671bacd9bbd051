// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "lowtide/earlier/baselines/rules/first_fit.h"
#include "lowtide/earlier/baselines/rules/free_space.h"
#include "lowtide/earlier/baselines/rules/placed_spans.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide::baselines_internal {
namespace {

// The cost of taking a free range out of a tree, in pairs.
constexpr std::int64_t kPairsPerUpdate = 4;

std::vector<TimeSpan> different_spans(const PackingProblem& problem) {
  std::vector<TimeSpan> spans;
  for (const PackingBuffer& buffer : problem.buffers) {
    if (!buffer.lifespan.empty()) spans.push_back(buffer.lifespan);
  }
  std::sort(spans.begin(), spans.end());
  spans.erase(std::unique(spans.begin(), spans.end()), spans.end());
  return spans;
}

// Collects, for each buffer, the free ranges between the placed buffers that are live at the same time.
IdVector<PackingId, Offset> place_by_pairs(const PackingProblem& problem, const std::vector<PackingId>& by_size) {
  IdVector<PackingId, Offset> offsets(problem.buffers.size());
  PlacedSpans placed(problem.buffers);
  std::vector<PackingId> beside;
  std::vector<AddressRange> taken;
  for (PackingId id : by_size) {
    placed.list_overlapping(id, beside);
    taken.clear();
    for (PackingId other : beside) taken.push_back({offsets[other], offsets[other] + problem.buffers[other].size});
    std::sort(taken.begin(), taken.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
    offsets[id] = smallest_free_range(taken, problem.buffers[id].size);
    placed.mark(id);
  }
  return offsets;
}

// Keeps the free ranges for each of a few lifespans, and removes the bytes of a placed buffer from all lifespans that
// it overlaps.
IdVector<PackingId, Offset> place_by_spans(const PackingProblem& problem, const std::vector<PackingId>& by_size,
                                           const std::vector<TimeSpan>& spans) {
  IdVector<PackingId, Offset> offsets(problem.buffers.size());
  std::vector<FreeSpace> space(spans.size());
  for (PackingId id : by_size) {
    const PackingBuffer& buffer = problem.buffers[id];
    if (buffer.lifespan.empty()) continue;  // at offset 0, because it conflicts with nothing
    const auto own = std::lower_bound(spans.begin(), spans.end(), buffer.lifespan) - spans.begin();
    offsets[id] = space[static_cast<std::size_t>(own)].smallest_free_range(buffer.size);
    for (std::size_t at = 0; at < spans.size(); ++at) {
      if (spans[at].overlaps(buffer.lifespan)) space[at].take(offsets[id], offsets[id] + buffer.size);
    }
  }
  return offsets;
}

}  // namespace

Result<IdVector<PackingId, Offset>> largest_first_offsets(const PackingProblem& problem, std::int64_t* work) {
  std::vector<PackingId> by_size;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) by_size.push_back(id);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](PackingId a, PackingId b) { return problem.buffers[a].size > problem.buffers[b].size; });
  const std::int64_t pairs = count_pairs(problem);
  const std::vector<TimeSpan> spans = different_spans(problem);
  const std::int64_t updates = static_cast<std::int64_t>(spans.size()) * static_cast<std::int64_t>(by_size.size());
  const bool has_few_spans = updates < pairs / kPairsPerUpdate;
  const std::int64_t looks = has_few_spans ? updates * kPairsPerUpdate : pairs;
  if (work != nullptr) *work = looks;
  if (looks > kMostPairs) return too_many_pairs();
  return has_few_spans ? place_by_spans(problem, by_size, spans) : place_by_pairs(problem, by_size);
}

}  // namespace lowtide::baselines_internal
