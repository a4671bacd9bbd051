// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/moments.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::int64_t kMomentLanes = 16;

struct FloatLanes {
  float values __attribute__((vector_size(kMomentLanes * sizeof(float))));
};
struct DoubleLanes {
  double values __attribute__((vector_size(kMomentLanes * sizeof(double))));
};
using Doubles = std::array<double, kMomentLanes>;

LOWTIDE_VECTOR_CLONES void add_lanes(const float* x, std::int64_t count, double shift, Doubles& sums,
                                     Doubles& squares) {
  DoubleLanes sum = {};
  DoubleLanes square = {};
  for (std::int64_t at = 0; at + kMomentLanes <= count; at += kMomentLanes) {
    FloatLanes next;  // NOLINT(*-member-init)
    std::memcpy(&next, x + at, sizeof next);
    const auto value = __builtin_convertvector(next.values, decltype(DoubleLanes::values)) - shift;
    sum.values += value;
    square.values += value * value;
  }
  std::memcpy(sums.data(), &sum, sizeof sum);
  std::memcpy(squares.data(), &square, sizeof square);
}

double total_of_lanes(Doubles& lanes) {
  for (std::size_t half = kMomentLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

}  // namespace

void Moments::add(const float* x, std::int64_t more) {
  Doubles sums;     // NOLINT(*-member-init)
  Doubles squares;  // NOLINT(*-member-init)
  add_lanes(x, more, shift, sums, squares);
  std::int64_t at = more / kMomentLanes * kMomentLanes;
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
