// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/interval_problem.h"

#include <algorithm>
#include <tuple>

#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

// For each moment, how many cliques lie before it; one more at the end.
std::vector<Clique> cliques_before(const CompressedProblem& problem) {
  Flags<Moment> begins(problem.moments());
  Flags<Moment> ends(problem.moments());
  for (PackingId id : problem.movable) {
    begins.set(problem.buffers[id].hull.begin);
    ends.set(problem.buffers[id].hull.end);
  }
  // A run of begins is over at the first end behind it: the last of them is a clique. An end of the same moment
  // comes before its begin, since spans are half-open.
  std::vector<Clique> before(problem.moments() + 1, 0);
  Flags<Moment> is_clique(problem.moments());
  Moment last_begin = 0;
  bool is_begun = false;
  for (Moment moment = 0; moment < problem.moments(); ++moment) {
    if (ends.test(moment) && is_begun) is_clique.set(last_begin);
    if (ends.test(moment)) is_begun = false;
    if (begins.test(moment)) last_begin = moment;
    if (begins.test(moment)) is_begun = true;
  }
  for (Moment moment = 0; moment < problem.moments(); ++moment) {
    before[moment + 1] = before[moment] + (is_clique.test(moment) ? 1 : 0);
  }
  return before;
}

std::int64_t common_alignment(const CompressedProblem& problem) {
  const std::int64_t first = problem.buffers[problem.movable.front()].alignment;
  const bool same = std::all_of(problem.movable.begin(), problem.movable.end(),
                                [&](PackingId id) { return problem.buffers[id].alignment == first; });
  return same ? first : 1;
}

}  // namespace

std::optional<IntervalProblem> interval_problem(const CompressedProblem& problem) {
  if (!problem.fixed.empty() || problem.movable.empty() || !problem.pairs.empty()) return std::nullopt;
  for (PackingId id : problem.movable) {
    if (problem.buffers[id].part_count != 1) return std::nullopt;
  }
  const std::vector<Clique> before = cliques_before(problem);
  IntervalProblem out{.clique_count = before.back(), .buffers = {}, .unit = common_alignment(problem)};
  out.buffers.reserve(problem.movable.size());
  for (PackingId id : problem.movable) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    const std::int64_t size = (buffer.size + out.unit - 1) & -out.unit;
    const std::int64_t alignment = out.unit == buffer.alignment ? 1 : buffer.alignment;
    out.buffers.push_back(
        {before[buffer.hull.begin], before[buffer.hull.end], size, alignment, size - buffer.size, id});
  }
  std::sort(out.buffers.begin(), out.buffers.end(),
            [](const auto& a, const auto& b) { return std::tuple(a.begin, a.id) < std::tuple(b.begin, b.id); });
  return out;
}

}  // namespace lowtide::allocate_internal
