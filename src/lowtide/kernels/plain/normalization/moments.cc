// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/normalization/moments.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "lowtide/kernels/common/lanes.h"
#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {
namespace {

using Doubles = std::array<double, kSumLanes>;

LOWTIDE_VECTOR_CLONES void add_lanes(const float* x, std::int64_t count, double shift, Doubles& sums,
                                     Doubles& squares) {
  DoubleLanes sum = {};
  DoubleLanes square = {};
  for (std::int64_t at = 0; at + kSumLanes <= count; at += kSumLanes) {
    FloatLanes next;  // NOLINT(*-member-init)
    std::memcpy(&next, x + at, sizeof next);
    const auto value = __builtin_convertvector(next.values, decltype(DoubleLanes::values)) - shift;
    sum.values += value;
    square.values += value * value;
  }
  std::memcpy(sums.data(), &sum, sizeof sum);
  std::memcpy(squares.data(), &square, sizeof square);
}

}  // namespace

void Moments::add(const float* x, std::int64_t more) {
  Doubles sums;     // NOLINT(*-member-init)
  Doubles squares;  // NOLINT(*-member-init)
  add_lanes(x, more, shift, sums, squares);
  std::int64_t at = more / kSumLanes * kSumLanes;
  for (std::size_t lane = 0; at < more; ++at, ++lane) {
    const double value = static_cast<double>(x[at]) - shift;
    sums[lane] += value;
    squares[lane] += value * value;
  }
  sum += total_of_lanes(sums);
  sum_of_squares += total_of_lanes(squares);
  count += more;
}

}  // namespace lowtide::kernels_internal
