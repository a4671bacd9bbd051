// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

namespace lowtide {

// 64-bit arithmetic that detects overflow. `checked_*` is for numbers that come from a file; it returns nullopt on
// overflow. `must_*` is for numbers that are already bounded; an overflow is a bug, and it throws InvariantViolation.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
[[nodiscard]] constexpr std::optional<std::int64_t> checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}
[[nodiscard]] constexpr std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

[[nodiscard]] std::int64_t must_add(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t must_subtract(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t must_multiply(std::int64_t a, std::int64_t b);

}  // namespace lowtide
