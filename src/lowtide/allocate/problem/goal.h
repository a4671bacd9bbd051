// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/base/bytes.h"

namespace lowtide::allocate_internal {

// When there is nothing left to gain: the capacity holds everything, if one is asked for; else the bound is met.
// Offsets are multiples of the smallest alignment, and so is what an arena is made of: a height that reaches into the
// same unit as the bound costs nothing more, and the bytes between them are only the padding of whichever buffer
// happens to be on top.
class Goal {
 public:
  // `bound`: no packing is lower.
  Goal(const CompressedProblem& problem, std::int64_t bound, std::optional<Bytes> capacity);

  [[nodiscard]] bool is_met(std::int64_t height) const;
  [[nodiscard]] bool asks_for_capacity() const { return capacity_.has_value(); }
  [[nodiscard]] std::optional<Bytes> capacity() const {
    return capacity_ ? std::optional(Bytes(*capacity_)) : std::nullopt;
  }
  // Nothing fits: the lowest height is of little use then, and not worth a long search.
  [[nodiscard]] bool is_out_of_reach() const { return capacity_ && bound_ > *capacity_; }
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  // The height to search for.
  [[nodiscard]] std::int64_t target() const {
    return is_out_of_reach() ? bound_ : std::max(bound_, capacity_.value_or(0));
  }
  // A search has shown more than the load does.
  void raise(std::int64_t bound) { bound_ = std::max(bound_, bound); }

 private:
  std::int64_t bound_;
  std::int64_t unit_;
  std::optional<std::int64_t> capacity_;
};

}  // namespace lowtide::allocate_internal
