// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/compressed.h"

#include <algorithm>

namespace lowtide {
namespace {

std::vector<std::int64_t> times_of(const PackingProblem& problem) {
  std::vector<std::int64_t> times;
  times.reserve(problem.buffers.size() * 2);
  for (const PackingBuffer& buffer : problem.buffers) {
    times.push_back(buffer.lifespan.begin);
    times.push_back(buffer.lifespan.end);
    for (const TimeSpan& gap : buffer.gaps) {
      times.push_back(gap.begin);
      times.push_back(gap.end);
    }
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

Moment moment_of(std::int64_t time, const std::vector<std::int64_t>& times) {
  return static_cast<Moment>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
}

// What is left of the lifespan without its gaps.
void append_parts(const PackingBuffer& buffer, const std::vector<std::int64_t>& times, std::vector<MomentSpan>& parts) {
  std::int64_t from = buffer.lifespan.begin;
  for (const TimeSpan& gap : buffer.gaps) {
    if (gap.empty()) continue;
    if (from < gap.begin) parts.push_back({moment_of(from, times), moment_of(gap.begin, times)});
    from = gap.end;
  }
  if (from < buffer.lifespan.end) parts.push_back({moment_of(from, times), moment_of(buffer.lifespan.end, times)});
}

}  // namespace

CompressedProblem compress(const PackingProblem& problem) {
  CompressedProblem out;
  out.times = times_of(problem);
  out.buffers.reserve(problem.buffers.size());
  out.parts.reserve(problem.buffers.size());
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const PackingBuffer& buffer = problem.buffers[id];
    CompressedProblem::Buffer compressed{.first_part = static_cast<std::uint32_t>(out.parts.size()),
                                         .size = buffer.size.count(),
                                         .alignment = buffer.alignment.count()};
    append_parts(buffer, out.times, out.parts);
    compressed.part_count = static_cast<std::uint32_t>(out.parts.size()) - compressed.first_part;
    if (compressed.part_count > 0) {
      compressed.hull = {out.parts[compressed.first_part].begin, out.parts.back().end};
    } else {
      const Moment begin = moment_of(buffer.lifespan.begin, out.times);
      compressed.hull = {begin, begin};
    }
    if (buffer.fixed_offset) compressed.fixed_offset = buffer.fixed_offset->position();
    out.buffers.push_back(compressed);
    if (compressed.part_count == 0 || compressed.size == 0) continue;
    (buffer.fixed_offset ? out.fixed : out.movable).push_back(id);
  }
  return out;
}

bool share_a_moment(const CompressedProblem& problem, PackingId first, PackingId second) {
  const CompressedProblem::Buffer& a = problem.buffers[first];
  const CompressedProblem::Buffer& b = problem.buffers[second];
  if (!a.hull.meets(b.hull)) return false;
  if (a.part_count == 1 && b.part_count == 1) return true;
  const std::span<const MomentSpan> first_parts = problem.parts_of(first);
  const std::span<const MomentSpan> second_parts = problem.parts_of(second);
  for (std::size_t i = 0, j = 0; i < first_parts.size() && j < second_parts.size();) {
    if (first_parts[i].meets(second_parts[j])) return true;
    if (first_parts[i].end <= second_parts[j].begin) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

}  // namespace lowtide
