// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/compressed.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

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

// Sets the spans of a compressed buffer. `spans` is scratch.
void set_spans(const PackingBuffer& buffer, CompressedProblem& problem, CompressedProblem::Buffer& compressed,
               std::vector<MomentSpan>& spans) {
  spans.clear();
  for_each_active_span(buffer, [&](const TimeSpan& span) {
    spans.push_back({moment_of(span.begin, problem.times), moment_of(span.end, problem.times)});
  });
  if (spans.empty()) {
    const Moment begin = moment_of(buffer.lifespan.begin, problem.times);
    compressed.lifespan = {begin, begin};
    return;
  }
  compressed.lifespan = {spans.front().begin, spans.back().end};
  compressed.has_several_spans = spans.size() > 1;
  if (!compressed.has_several_spans) return;
  compressed.span_list = SpanListId(static_cast<std::uint32_t>(problem.span_lists.size()));
  problem.span_lists.append(spans);
}

void set_buffers(const PackingProblem& problem, CompressedProblem& out) {
  IdVector<PackingId, CompressedProblem::Buffer> buffers;
  buffers.reserve(problem.buffers.size());
  std::vector<MomentSpan> spans;
  for (const PackingBuffer& buffer : problem.buffers) {
    CompressedProblem::Buffer compressed{.size = buffer.size.count()};
    compressed.alignment_bits =
        static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(buffer.alignment.count())));
    if (!problem.conflicts) set_spans(buffer, out, compressed, spans);
    buffers.push_back(compressed);
  }
  out.buffers = SharedTable<PackingId, CompressedProblem::Buffer>(std::move(buffers));
}

}  // namespace

std::vector<PackingId> CompressedProblem::participants() const {
  std::vector<PackingId> all = movable;
  for (const FixedBuffer& buffer : fixed) all.push_back(buffer.id);
  return all;
}

IdVector<PackingId, std::int64_t> CompressedProblem::least_offsets() const {
  IdVector<PackingId, std::int64_t> offsets(buffers.size(), 0);
  for (const FixedBuffer& buffer : fixed) offsets[buffer.id] = buffer.offset;
  for (const FixedBuffer& buffer : idle_fixed) offsets[buffer.id] = buffer.offset;
  return offsets;
}

CompressedProblem compress(const PackingProblem& problem) {
  CompressedProblem out;
  out.times = times_of(problem);
  out.moment_count = static_cast<std::uint32_t>(out.times.size());
  set_buffers(problem, out);
  out.pairs = pairs_of(problem, out);
  Flags<PackingId> is_paired(problem.buffers.size());
  for (const PackingPair& pair : out.pairs) {
    is_paired.set(pair.first);
    is_paired.set(pair.second);
  }
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const CompressedProblem::Buffer& buffer = out.buffers[id];
    const bool is_idle = buffer.size == 0 || (buffer.lifespan.empty() && !is_paired.test(id));
    if (const std::optional<Offset>& fixed = problem.buffers[id].fixed_offset) {
      (is_idle ? out.idle_fixed : out.fixed).push_back({id, fixed->position()});
    } else if (!is_idle) {
      out.movable.push_back(id);
    }
  }
  out.movable.shrink_to_fit();
  return out;
}

bool are_live_together(const CompressedProblem& problem, PackingId first, PackingId second) {
  const CompressedProblem::Buffer& a = problem.buffers[first];
  const CompressedProblem::Buffer& b = problem.buffers[second];
  if (!a.lifespan.overlaps(b.lifespan)) return false;
  if (!a.has_several_spans && !b.has_several_spans) return true;
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
