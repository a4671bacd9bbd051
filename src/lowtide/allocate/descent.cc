// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/descent.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lowtide {
namespace {

constexpr std::int64_t kRoundsAtBound = 8;
constexpr std::int64_t kLargestDivisor = 32;

std::int64_t common_grain(const SectionedProblem& problem) {
  std::int64_t grain = 0;
  for (const SectionedProblem::Buffer& buffer : problem.buffers) {
    grain = std::gcd(grain, buffer.size - buffer.padding);
    if (buffer.alignment > 1) grain = std::gcd(grain, buffer.alignment);
  }
  if (problem.unit > 1) grain = std::gcd(grain, problem.unit);
  return std::max<std::int64_t>(grain, 1);
}

}  // namespace

Descent::Descent(const CompressedProblem& problem, const SectionedProblem& sections, std::int64_t bound,
                 std::int64_t target)
    : problem_(problem),
      sections_(sections),
      search_(sections, ValleyRules{}),
      grain_(common_grain(sections)),
      bound_(bound),
      target_(target) {}

bool Descent::try_lowest(Placements& best, Effort& effort) {
  const std::int64_t before = best.height;
  // A refuted bound rises by a grain, and is asked again; what was asked for from outside is not.
  while (best.height > target_ && !effort.exhausted()) {
    const bool is_bound = target_ == bound_;
    const SearchOutcome outcome = ask(target_, kRoundsAtBound, best, effort);
    if (outcome != SearchOutcome::does_not_fit || !is_bound) break;
    target_ = bound_;
  }
  return best.height < before;
}

bool Descent::step(Placements& best, Effort& effort) {
  if (best.height <= target_) return false;
  target_ = std::max(target_, bound_);
  const std::int64_t drop = std::max((best.height - target_) / divisor_, grain_);
  const SearchOutcome outcome = ask(std::max(best.height - drop, target_), rounds_, best, effort);
  if (outcome == SearchOutcome::fits) {
    divisor_ = std::max<std::int64_t>(divisor_ / 2, 2);
    return true;
  }
  if (outcome == SearchOutcome::undecided) {
    divisor_ *= 2;
    if (divisor_ > kLargestDivisor || drop == grain_) {
      divisor_ = 2;
      rounds_ *= 2;
    }
  }
  return false;
}

SearchOutcome Descent::ask(std::int64_t capacity, std::int64_t rounds, Placements& best, Effort& effort) {
  search_.set_capacity(capacity);
  for (std::int64_t round = 0; round < rounds && !effort.exhausted(); ++round) {
    const SearchOutcome outcome = search_.run_round(effort);
    if (outcome == SearchOutcome::undecided) continue;
    if (outcome == SearchOutcome::fits) {
      take(best);
      return outcome;
    }
    bound_ = std::max(bound_, (capacity / grain_ + 1) * grain_);
    return outcome;
  }
  return SearchOutcome::undecided;
}

void Descent::take(Placements& best) const {
  Placements found{.offsets = best.offsets, .height = 0};
  for (std::uint32_t at = 0; at < sections_.buffers.size(); ++at) {
    found.offsets[sections_.buffers[at].id] = search_.offset(at);
  }
  // Also of those that share bytes with nobody and are in no section.
  for (PackingId id : all_ids<PackingId>(problem_.buffers.size())) {
    found.height = std::max(found.height, found.offsets[id] + problem_.buffers[id].size);
  }
  if (found.height < best.height) best = std::move(found);
}

}  // namespace lowtide
