// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/load_bound.h"

#include <algorithm>
#include <set>

#include "lowtide/allocate/problem/align.h"

namespace lowtide::allocate_internal {
namespace {

// The begin or the end of an active span.
struct Event {
  Moment moment;
  PackingId buffer;
};

void raise(HeightBound& bound, std::int64_t height, Moment witness) {
  if (height > bound.height) bound = {height, witness};
}

// The paddings of the active buffers. Paddings of 0 are left out: most alignments need none, and then this costs
// nothing.
class ActivePaddings {
 public:
  void add(std::int64_t padding) {
    if (padding > 0) active_.insert(padding);
  }
  void remove(std::int64_t padding) {
    if (padding > 0) active_.erase(active_.find(padding));
  }
  [[nodiscard]] std::int64_t largest() const { return active_.empty() ? 0 : *active_.rbegin(); }

 private:
  std::multiset<std::int64_t> active_;
};

// Raises the bound by the loads of the buffers whose alignment is at least this one, with sizes rounded up to it.
void raise_by_alignment(const CompressedProblem& problem, std::int64_t alignment, HeightBound& bound) {
  std::vector<Event> begins;
  std::vector<Event> ends;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    if (buffer.alignment() < alignment || buffer.size == 0) continue;
    for (const MomentSpan& span : problem.spans_of(id)) {
      begins.push_back({span.begin, id});
      ends.push_back({span.end, id});
    }
  }
  const auto is_earlier = [](const Event& a, const Event& b) { return a.moment < b.moment; };
  std::sort(begins.begin(), begins.end(), is_earlier);
  std::sort(ends.begin(), ends.end(), is_earlier);

  ActivePaddings paddings;
  std::int64_t load = 0;
  std::size_t ended = 0;
  for (std::size_t begun = 0; begun < begins.size();) {
    const Moment moment = begins[begun].moment;
    for (; ended < ends.size() && ends[ended].moment <= moment; ++ended) {
      const std::int64_t size = problem.buffers[ends[ended].buffer].size;
      load -= aligned_up(size, alignment);
      paddings.remove(aligned_up(size, alignment) - size);
    }
    for (; begun < begins.size() && begins[begun].moment == moment; ++begun) {
      const std::int64_t size = problem.buffers[begins[begun].buffer].size;
      load += aligned_up(size, alignment);
      paddings.add(aligned_up(size, alignment) - size);
    }
    raise(bound, load - paddings.largest(), moment);
  }
}

}  // namespace

std::vector<std::int64_t> load_profile(const CompressedProblem& problem) {
  std::vector<std::int64_t> load(problem.moments(), 0);
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    for (const MomentSpan& span : problem.spans_of(id)) {
      load[span.begin] += problem.buffers[id].size;
      load[span.end] -= problem.buffers[id].size;
    }
  }
  for (std::size_t moment = 1; moment < load.size(); ++moment) load[moment] += load[moment - 1];
  return load;
}

HeightBound height_bound(const CompressedProblem& problem) {
  HeightBound bound;
  std::set<std::int64_t> alignments;
  for (const CompressedProblem::Buffer& buffer : problem.buffers) {
    if (buffer.size > 0 && !buffer.lifespan.empty()) alignments.insert(buffer.alignment());
  }
  for (std::int64_t alignment : alignments) raise_by_alignment(problem, alignment, bound);
  const IdVector<PackingId, std::int64_t> offsets = problem.least_offsets();
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    raise(bound, offsets[id] + problem.buffers[id].size, problem.buffers[id].lifespan.begin);
  }
  return bound;
}

}  // namespace lowtide::allocate_internal
