// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/improve/descent.h"

#include <algorithm>
#include <utility>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

Descent::Descent(const CompressedProblem& problem, const SearchTask& task, std::int64_t bound, std::int64_t target,
                 int threads)
    : problem_(problem),
      task_(task),
      at_target_(task, threads),
      between_(task, threads),
      grain_(task.grain),
      bound_(bound),
      target_(target) {
  at_target_.set_capacity(target);
}

bool Descent::try_target(Incumbent& best, std::int64_t share, Effort& effort) {
  const std::int64_t before = best.height();
  const std::int64_t last = effort.spent + std::min(share, effort.left());
  while (best.height() > target_ && bound_ <= target_ && effort.spent < last && !effort.exhausted()) {
    const SearchOutcome outcome = at_target_.run_round(effort);
    if (outcome == SearchOutcome::fits) {
      take(at_target_, best);
      break;
    }
    if (outcome == SearchOutcome::undecided) continue;
    const bool is_bound = target_ == bound_;
    refute(target_);
    if (!is_bound) break;  // a target that the caller has chosen does not rise
    target_ = bound_;
    at_target_.set_capacity(target_);
  }
  return best.height() < before;
}

bool Descent::step(Incumbent& best, Effort& effort) {
  if (best.height() <= target_ || bound_ > target_) return false;
  const std::int64_t drop = std::max((best.height() - target_) / divisor_, grain_);
  const std::int64_t capacity = std::max(best.height() - drop, target_);
  between_.set_capacity(capacity);
  SearchOutcome outcome = SearchOutcome::undecided;
  for (std::int64_t round = 0; round < rounds_ && outcome == SearchOutcome::undecided && !effort.exhausted(); ++round) {
    outcome = between_.run_round(effort);
  }
  if (outcome == SearchOutcome::does_not_fit) {
    const bool is_bound = target_ == bound_;
    refute(capacity);
    if (!is_bound) return false;
    target_ = bound_;
    at_target_.set_capacity(target_);
  } else if (outcome == SearchOutcome::fits) {
    divisor_ = std::max<std::int64_t>(divisor_ / 2, 2);
    return take(between_, best);
  } else {
    divisor_ *= 2;
    if (divisor_ > tuning::kDescentLargestDivisor || drop == grain_) {
      divisor_ = 2;
      rounds_ *= 2;
    }
  }
  return false;
}

void Descent::refute(std::int64_t capacity) { bound_ = std::max(bound_, (capacity / grain_ + 1) * grain_); }

bool Descent::take(const CapacitySearch& search, Incumbent& best) const {
  Placements found{.offsets = best.placements().offsets, .height = 0};
  for (SearchBuffer buffer : all_ids<SearchBuffer>(task_.buffers.size())) {
    found.offsets[task_.buffers[buffer].id] = search.offset(buffer);
  }
  // Buffers without a conflict are in no clique, but count for the height.
  for (PackingId id : all_ids<PackingId>(problem_.buffers.size())) {
    found.height = std::max(found.height, found.offsets[id] + problem_.buffers[id].size);
  }
  return best.offer(std::move(found), "search");
}

}  // namespace lowtide::allocate_internal
