// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide {

// A seeded generator that gives the same sequence on every machine and compiler (splitmix64; Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014). Do not use it for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31U);
  }

  // A number in [0, count). Its distribution is uniform enough for tests and tie-breaks. Requires: count > 0.
  std::uint64_t below(std::uint64_t count) { return next() % count; }

  // A number in [low, high]. Requires: low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }

  // True in about `percent` of 100 calls.
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

}  // namespace lowtide
