// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/compressed.h"

#include <algorithm>

#include "lowtide/allocate/problem/active_spans.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

std::vector<std::int64_t> times_of(const PackingProblem& problem) {
  std::vector<std::int64_t> times;
  if (problem.conflicts) return times;
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
  times.shrink_to_fit();
  return times;
}

Moment moment_of(std::int64_t time, const std::vector<std::int64_t>& times) {
  return static_cast<Moment>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
}

// The conflicts between buffers with bytes.
std::vector<PackingPair> pairs_of(const PackingProblem& problem, const CompressedProblem& compressed) {
  std::vector<PackingPair> pairs;
  if (!problem.conflicts) return pairs;
  for (const PackingPair& pair : *problem.conflicts) {
    if (compressed.buffers[pair.first].size == 0 || compressed.buffers[pair.second].size == 0) continue;
    pairs.push_back({std::min(pair.first, pair.second), std::max(pair.first, pair.second)});
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace

std::vector<PackingId> CompressedProblem::participants() const {
  std::vector<PackingId> all = movable;
  all.insert(all.end(), fixed.begin(), fixed.end());
  return all;
}

CompressedProblem compress(const PackingProblem& problem) {
  CompressedProblem out;
  out.times = times_of(problem);
  out.buffers.reserve(problem.buffers.size());
  if (!problem.conflicts) out.spans.reserve(problem.buffers.size());
  for (const PackingBuffer& buffer : problem.buffers) {
    CompressedProblem::Buffer compressed{.first_span = static_cast<std::uint32_t>(out.spans.size()),
                                         .size = buffer.size.count(),
                                         .alignment = buffer.alignment.count()};
    if (!problem.conflicts) {
      for_each_active_span(buffer, [&](const TimeSpan& span) {
        out.spans.push_back({moment_of(span.begin, out.times), moment_of(span.end, out.times)});
      });
    }
    compressed.span_count = static_cast<std::uint32_t>(out.spans.size()) - compressed.first_span;
    if (compressed.span_count > 0) {
      compressed.lifespan = {out.spans[compressed.first_span].begin, out.spans.back().end};
    } else if (!problem.conflicts) {
      const Moment begin = moment_of(buffer.lifespan.begin, out.times);
      compressed.lifespan = {begin, begin};
    }
    if (buffer.fixed_offset) compressed.fixed_offset = buffer.fixed_offset->position();
    out.buffers.push_back(compressed);
  }
  out.pairs = pairs_of(problem, out);
  Flags<PackingId> is_paired(problem.buffers.size());
  for (const PackingPair& pair : out.pairs) {
    is_paired.set(pair.first);
    is_paired.set(pair.second);
  }
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const CompressedProblem::Buffer& buffer = out.buffers[id];
    if (buffer.size == 0 || (buffer.span_count == 0 && !is_paired.test(id))) continue;
    (problem.buffers[id].fixed_offset ? out.fixed : out.movable).push_back(id);
  }
  return out;
}

bool are_live_together(const CompressedProblem& problem, PackingId first, PackingId second) {
  const CompressedProblem::Buffer& a = problem.buffers[first];
  const CompressedProblem::Buffer& b = problem.buffers[second];
  if (!a.lifespan.overlaps(b.lifespan)) return false;
  if (a.span_count == 1 && b.span_count == 1) return true;
  const std::span<const MomentSpan> spans_of_a = problem.spans_of(first);
  const std::span<const MomentSpan> spans_of_b = problem.spans_of(second);
  for (std::size_t i = 0, j = 0; i < spans_of_a.size() && j < spans_of_b.size();) {
    if (spans_of_a[i].overlaps(spans_of_b[j])) return true;
    if (spans_of_a[i].end <= spans_of_b[j].begin) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

}  // namespace lowtide::allocate_internal
