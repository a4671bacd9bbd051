// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact_problem.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lowtide/allocate/cover_search.h"
#include "lowtide/allocate/valley_search.h"

namespace lowtide {
namespace {

// One descent from nothing to a whole packing looks at every section for every buffer; where that is more than this,
// few would be made and none of them repeated.
constexpr std::int64_t kMostSectionsSearched = 4'000'000;

// The same where sections are sets: members of all of them.
constexpr std::size_t kMostMembers = 1'000'000;

}  // namespace

ExactProblem::ExactProblem(const CompressedProblem& problem, std::optional<CliqueCover> cover, Effort& effort) {
  sections_ = sectioned(problem);
  if (sections_) {
    if (static_cast<std::int64_t>(sections_->buffers.size()) * sections_->sections > kMostSectionsSearched) return;
    task_ = search_task(*sections_);
    return;
  }
  take_sets(problem, std::move(cover), effort);
}

std::unique_ptr<ExactProblem> ExactProblem::of_sets(const CompressedProblem& problem, Effort& effort) {
  std::unique_ptr<ExactProblem> out(new ExactProblem());
  out->take_sets(problem, std::nullopt, effort);
  if (!out->task_) return out;
  // The pair of rules that the search over intervals is worst with, and short turns do not suffice.
  out->task_->lanes = {{SectionRule::fewest_options, BufferRule::largest}};
  out->task_->turn = 10;
  return out;
}

void ExactProblem::take_sets(const CompressedProblem& problem, std::optional<CliqueCover> cover, Effort& effort) {
  if (problem.movable.empty()) return;
  if (!cover && problem.pairs.empty()) cover = clique_cover(problem, nullptr, kMostMembers, effort);
  if (!cover) return;
  cover_ = cover_problem(problem, *cover);
  task_ = search_task(problem, *cover_);
}

}  // namespace lowtide
