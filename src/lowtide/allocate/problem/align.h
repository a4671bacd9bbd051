// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide::allocate_internal {

// The least multiple of `alignment` at or above `value`, and the greatest at or below it. `alignment` is a power of
// two. validate.h bounds sizes and offsets such that these sums stay below 2^63.
constexpr std::int64_t aligned_up(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) & -alignment;
}
constexpr std::int64_t aligned_down(std::int64_t value, std::int64_t alignment) { return value & -alignment; }

}  // namespace lowtide::allocate_internal
