// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/base/bytes.h"

namespace lowtide::allocate_internal {

// Says at which height a search stops. With a capacity, that is any height that fits it. Without one, it is any height
// in the same unit of the smallest alignment as the bound: offsets are multiples of that unit, and so are the sizes of
// arenas, so the bytes between bound and height are the padding of the topmost buffer and cost nothing.
class StoppingRule {
 public:
  // `bound`: no packing is lower.
  StoppingRule(const CompressedProblem& problem, std::int64_t bound, std::optional<Bytes> capacity);

  [[nodiscard]] bool stops_at(std::int64_t height) const;
  [[nodiscard]] bool has_capacity() const { return capacity_.has_value(); }
  [[nodiscard]] std::optional<Bytes> capacity() const {
    return capacity_ ? std::optional(Bytes(*capacity_)) : std::nullopt;
  }
  // Proven: nothing fits the capacity. The lowest height is of little use then, and not worth a long search.
  [[nodiscard]] bool is_infeasible() const { return capacity_ && bound_ > *capacity_; }
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  // The height that a search asks for.
  [[nodiscard]] std::int64_t target() const {
    return is_infeasible() ? bound_ : std::max(bound_, capacity_.value_or(0));
  }
  // A search has proven a higher bound.
  void raise(std::int64_t bound) { bound_ = std::max(bound_, bound); }

 private:
  std::int64_t bound_;
  std::int64_t unit_;
  std::optional<std::int64_t> capacity_;
};

}  // namespace lowtide::allocate_internal
