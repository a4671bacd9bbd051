// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/load_bound.h"

#include <algorithm>
#include <set>

namespace lowtide::allocate_internal {
namespace {

std::int64_t rounded(std::int64_t size, std::int64_t alignment) { return (size + alignment - 1) & -alignment; }

// One end of an active part.
struct Event {
  Moment moment;
  PackingId buffer;
};

void raise(HeightBound& bound, std::int64_t height, Moment witness) {
  if (height > bound.height) bound = {height, witness};
}

// Largest padding among the active ones, over time. Most levels have no padding at all, and then this costs nothing.
class ActivePadding {
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

// The bound of one level: buffers whose alignment is at least `level`, sizes rounded up to it.
void raise_by_level(const CompressedProblem& problem, std::int64_t level, HeightBound& bound) {
  std::vector<Event> begins;
  std::vector<Event> ends;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    if (buffer.alignment < level || buffer.size == 0) continue;
    for (const MomentSpan& part : problem.parts_of(id)) {
      begins.push_back({part.begin, id});
      ends.push_back({part.end, id});
    }
  }
  const auto earlier = [](const Event& a, const Event& b) { return a.moment < b.moment; };
  std::sort(begins.begin(), begins.end(), earlier);
  std::sort(ends.begin(), ends.end(), earlier);

  ActivePadding padding;
  std::int64_t load = 0;
  std::size_t ended = 0;
  for (std::size_t begun = 0; begun < begins.size();) {
    const Moment moment = begins[begun].moment;
    for (; ended < ends.size() && ends[ended].moment <= moment; ++ended) {
      const std::int64_t size = problem.buffers[ends[ended].buffer].size;
      load -= rounded(size, level);
      padding.remove(rounded(size, level) - size);
    }
    for (; begun < begins.size() && begins[begun].moment == moment; ++begun) {
      const std::int64_t size = problem.buffers[begins[begun].buffer].size;
      load += rounded(size, level);
      padding.add(rounded(size, level) - size);
    }
    raise(bound, load - padding.largest(), moment);
  }
}

}  // namespace

std::vector<std::int64_t> load_profile(const CompressedProblem& problem) {
  std::vector<std::int64_t> load(problem.moments(), 0);
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    for (const MomentSpan& part : problem.parts_of(id)) {
      load[part.begin] += problem.buffers[id].size;
      load[part.end] -= problem.buffers[id].size;
    }
  }
  for (std::size_t moment = 1; moment < load.size(); ++moment) load[moment] += load[moment - 1];
  return load;
}

HeightBound height_bound(const CompressedProblem& problem) {
  HeightBound bound;
  std::set<std::int64_t> levels;
  for (const CompressedProblem::Buffer& buffer : problem.buffers) {
    if (buffer.size > 0 && buffer.part_count > 0) levels.insert(buffer.alignment);
  }
  for (std::int64_t level : levels) raise_by_level(problem, level, bound);
  for (const CompressedProblem::Buffer& buffer : problem.buffers) {
    raise(bound, buffer.fixed_offset + buffer.size, buffer.hull.begin);  // fixed_offset is 0 for movable ones
  }
  return bound;
}

}  // namespace lowtide::allocate_internal
