// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/base/bytes.h"

namespace lowtide::allocate_internal {

// Decides at which height a solver may stop. With a capacity, that is any height within it. Without one, it is any
// height that has as many units of the smallest alignment as the bound, rounded up. Offsets are multiples of that unit,
// and so are the sizes of arenas. So the bytes between the bound and such a height are padding above the topmost
// buffer.
class StoppingRule {
 public:
  // Requires: no packing is lower than `bound`.
  StoppingRule(const CompressedProblem& problem, std::int64_t bound, std::optional<Bytes> capacity);

  [[nodiscard]] bool stops_at(std::int64_t height) const;
  [[nodiscard]] bool has_capacity() const { return capacity_.has_value(); }
  [[nodiscard]] std::optional<Bytes> capacity() const {
    return capacity_ ? std::optional(Bytes(*capacity_)) : std::nullopt;
  }
  // Whether it is proven that no packing fits the capacity. Then the lowest height is of little use, and not worth a
  // long search.
  [[nodiscard]] bool is_infeasible() const { return capacity_ && bound_ > *capacity_; }
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  // The height that an exact search is asked for first.
  [[nodiscard]] std::int64_t target() const {
    return is_infeasible() ? bound_ : std::max(bound_, capacity_.value_or(0));
  }
  // Call it when a search has proven a higher bound.
  void raise(std::int64_t bound) { bound_ = std::max(bound_, bound); }

 private:
  std::int64_t bound_;
  std::int64_t unit_;
  std::optional<std::int64_t> capacity_;
};

}  // namespace lowtide::allocate_internal
