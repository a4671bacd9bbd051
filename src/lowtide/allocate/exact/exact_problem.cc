// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/exact_problem.h"

#include <cstdint>
#include <utility>

#include "lowtide/allocate/exact/skyline_search.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

ExactProblem::ExactProblem(const CompressedProblem& problem, std::optional<CliqueCover> cover, Effort& effort) {
  intervals_ = interval_problem(problem);
  if (intervals_) {
    const auto size = static_cast<std::int64_t>(intervals_->buffers.size() * intervals_->cliques());
    if (size > tuning::kSearchMostSize) {
      intervals_.reset();  // it takes 40 bytes per buffer
      return;
    }
    task_ = search_task(problem, *intervals_);
    return;
  }
  take_sets(problem, std::move(cover), effort);
}

std::unique_ptr<ExactProblem> ExactProblem::of_sets(const CompressedProblem& problem, Effort& effort) {
  std::unique_ptr<ExactProblem> out(new ExactProblem());
  out->take_sets(problem, std::nullopt, effort);
  if (!out->task_) return out;
  // The search over intervals does worst with this pair of rules, so the two searches complement each other.
  out->task_->configurations = {{CliqueRule::fewest_options, BufferRule::largest}};
  out->task_->slice = tuning::kSetsSlicePerBuffer;
  return out;
}

void ExactProblem::take_sets(const CompressedProblem& problem, std::optional<CliqueCover> cover, Effort& effort) {
  if (problem.movable.empty()) return;
  if (!cover && problem.pairs.empty()) cover = clique_cover(problem, nullptr, effort);
  if (!cover) return;
  cover_ = cover_problem(problem, *cover);
  task_ = search_task(problem, *cover_);
}

}  // namespace lowtide::allocate_internal
