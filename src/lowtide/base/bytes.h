// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/base/checked.h"

namespace lowtide {

// A number of bytes. It is signed so that differences are exact, but it is never negative in a valid plan. Arithmetic
// throws InvariantViolation instead of wrapping: sizes are bounded where they enter (limits::kMaxTensorBytes,
// limits::kMaxTotalBytes), so an overflow is a bug.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}
  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend Bytes operator+(Bytes a, Bytes b) { return Bytes(must_add(a.count_, b.count_)); }
  friend Bytes operator-(Bytes a, Bytes b) { return Bytes(must_subtract(a.count_, b.count_)); }
  friend Bytes operator*(Bytes a, std::int64_t times) { return Bytes(must_multiply(a.count_, times)); }
  Bytes& operator+=(Bytes other) { return *this = *this + other; }
  Bytes& operator-=(Bytes other) { return *this = *this - other; }

 private:
  std::int64_t count_ = 0;
};

// A position in a region or a buffer, in bytes from its start.
class Offset {
 public:
  constexpr Offset() = default;
  constexpr explicit Offset(std::int64_t position) : position_(position) {}
  [[nodiscard]] constexpr std::int64_t position() const { return position_; }

  friend constexpr auto operator<=>(Offset, Offset) = default;
  friend Offset operator+(Offset at, Bytes by) { return Offset(must_add(at.position_, by.count())); }
  friend Bytes operator-(Offset to, Offset from) { return Bytes(must_subtract(to.position_, from.position_)); }

 private:
  std::int64_t position_ = 0;
};

// The smallest multiple of `alignment` that is not below the argument. Requires: `alignment` is a power of two.
[[nodiscard]] Bytes round_up(Bytes size, Bytes alignment);
[[nodiscard]] Offset round_up(Offset at, Bytes alignment);

[[nodiscard]] constexpr bool is_power_of_two(std::int64_t number) { return number > 0 && (number & (number - 1)) == 0; }

// "1,234 B (1.21 KiB)". Below 1 KiB only the bytes: "512 B".
[[nodiscard]] std::string format_bytes(Bytes size);
// "1.21 KiB", for tables that show the exact number elsewhere.
[[nodiscard]] std::string format_bytes_short(Bytes size);

// Reads "64MiB", "256 KiB", "1.5GiB", "4096" and "4096B". The units are those of IEC; "64MB" is refused because it is
// ambiguous. Returns nullopt if the text is not a size, is negative, is not a whole number of bytes, or exceeds
// 2^63 - 1.
[[nodiscard]] std::optional<Bytes> parse_bytes(const std::string& text);

}  // namespace lowtide
