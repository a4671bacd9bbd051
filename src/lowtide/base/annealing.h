// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>

#include "lowtide/base/random.h"

namespace lowtide {

// What searches by simulated annealing need. Both functions use basic arithmetic only, because the logarithms of two
// libraries may differ in the last bit. A caller that is compiled without fused multiply-adds gets the same numbers on
// every machine.

// A positive number with the exponential distribution of mean 1. A change that raises the energy by at most this number
// times the temperature is accepted: this is the rule of Metropolis, drawn before the change is tried.
[[nodiscard]] inline double exponential(Random& random) {
  const std::uint64_t bits = random.next() | 1U;
  const int zeros = std::countl_zero(bits);
  const std::uint64_t top = bits << static_cast<unsigned>(zeros);  // in [2^63, 2^64)
  const double mantissa = static_cast<double>(top >> 11U) * 0x1p-53;
  const double z = (1 - mantissa) / (1 + mantissa);
  return zeros * 0.6931471805599453 + 2 * z * (1 + z * z * (1.0 / 3 + z * z / 5));
}

// The temperature when a share `done` of the work is done: it falls from `hottest` to about `coldest`, and is halved in
// equal parts of the work, with a straight line between them. Requires: 0 < coldest, 0 <= done <= 1.
[[nodiscard]] inline double cooled(double hottest, double coldest, double done) {
  double steps = 0;
  double reached = coldest;
  while (reached < hottest) {
    reached *= 2;
    ++steps;
  }
  double temperature = hottest;
  double left = steps * done;
  while (left >= 1) {
    left -= 1;
    temperature /= 2;
  }
  return temperature * (1 - left / 2);
}

}  // namespace lowtide
