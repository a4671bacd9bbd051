// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/interval_problem.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/allocate/problem/fullest_moments.h"

namespace lowtide::allocate_internal {
namespace {

std::int64_t common_alignment(const CompressedProblem& problem) {
  const std::int64_t first = problem.buffers[problem.movable.front()].alignment();
  const bool is_same = std::all_of(problem.movable.begin(), problem.movable.end(),
                                   [&](PackingId id) { return problem.buffers[id].alignment() == first; });
  return is_same ? first : 1;
}

}  // namespace

std::optional<IntervalProblem> interval_problem(const CompressedProblem& problem) {
  if (!problem.fixed.empty() || problem.movable.empty() || !problem.pairs.empty()) return std::nullopt;
  for (PackingId id : problem.movable) {
    if (problem.spans_of(id).size() != 1) return std::nullopt;
  }
  const std::vector<Moment> fullest = fullest_moments(problem);
  const std::vector<CliqueId> first_clique = first_clique_from(fullest, problem.moments());
  IntervalProblem out{
      .clique_count = static_cast<std::uint32_t>(fullest.size()), .buffers = {}, .unit = common_alignment(problem)};
  out.buffers.reserve(problem.movable.size());
  for (PackingId id : problem.movable) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    const std::int64_t size = aligned_up(buffer.size, out.unit);
    const std::int64_t alignment = out.unit == buffer.alignment() ? 1 : buffer.alignment();
    out.buffers.push_back({{first_clique[buffer.lifespan.begin], first_clique[buffer.lifespan.end]},
                           size,
                           alignment,
                           size - buffer.size,
                           id});
  }
  std::sort(out.buffers.begin(), out.buffers.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.cliques.begin, a.id) < std::tuple(b.cliques.begin, b.id);
  });
  return out;
}

}  // namespace lowtide::allocate_internal
