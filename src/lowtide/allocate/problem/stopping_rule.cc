// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/stopping_rule.h"

#include <algorithm>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/base/limits.h"

namespace lowtide::allocate_internal {

StoppingRule::StoppingRule(const CompressedProblem& problem, std::int64_t bound, std::optional<Bytes> capacity)
    : bound_(bound), unit_(limits::kMaxAlignment) {
  for (const CompressedProblem::Buffer& buffer : problem.buffers) unit_ = std::min(unit_, buffer.alignment());
  if (capacity) capacity_ = capacity->count();
}

bool StoppingRule::stops_at(std::int64_t height) const {
  if (capacity_ && bound_ <= *capacity_) return height <= *capacity_;
  return aligned_up(height, unit_) <= aligned_up(bound_, unit_);
}

}  // namespace lowtide::allocate_internal
