// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/softmax_row.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>

#include "lowtide/kernels/common/lanes.h"
#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/math/functions.h"

namespace lowtide::kernels_internal {
namespace {

using LaneArray = std::array<float, kSumLanes>;

constexpr float kSmallest = std::numeric_limits<float>::min();
constexpr float kLogOfSmallest = -87.3365402F;  // above it, e^x is a normal number

// The largest of the first elements, per lane. A NaN is passed over; its exponential is NaN again.
LOWTIDE_VECTOR_CLONES void largest_of_lanes(const float* x, std::int64_t count, LaneArray& result) {
  FloatLanes most;  // NOLINT(*-member-init)
  std::memcpy(&most, result.data(), sizeof most);
  for (std::int64_t at = 0; at + kSumLanes <= count; at += kSumLanes) {
    FloatLanes next;  // NOLINT(*-member-init)
    std::memcpy(&next, x + at, sizeof next);
    most.values = next.values > most.values ? next.values : most.values;
  }
  std::memcpy(result.data(), &most, sizeof most);
}

float largest_in(const float* x, std::int64_t count) {
  LaneArray lanes{};
  lanes.fill(-std::numeric_limits<float>::infinity());
  largest_of_lanes(x, count, lanes);
  for (std::int64_t at = count / kSumLanes * kSumLanes; at < count; ++at) {
    lanes[0] = x[at] > lanes[0] ? x[at] : lanes[0];
  }
  return *std::ranges::max_element(lanes);
}

LOWTIDE_VECTOR_CLONES void exponentials(const float* x, float most, float* y, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) {
    const float distance = x[at] - most;
    const bool is_tiny = distance < kLogOfSmallest;
    const float value = exp_of_negative_f32(is_tiny ? kLogOfSmallest : distance);
    y[at] = is_tiny ? 0.0F : value;
  }
}

LOWTIDE_VECTOR_CLONES void sum_of_lanes(const float* values, std::int64_t count, LaneArray& result) {
  FloatLanes sum = {};
  for (std::int64_t at = 0; at + kSumLanes <= count; at += kSumLanes) {
    FloatLanes next;  // NOLINT(*-member-init)
    std::memcpy(&next, values + at, sizeof next);
    sum.values += next.values;
  }
  std::memcpy(result.data(), &sum, sizeof sum);
}

float total_of(const float* values, std::int64_t count) {
  LaneArray lanes;  // NOLINT(*-member-init)
  sum_of_lanes(values, count, lanes);
  std::int64_t at = count / kSumLanes * kSumLanes;
  for (std::size_t lane = 0; at < count; ++at, ++lane) lanes[lane] += values[at];
  return total_of_lanes(lanes);
}

LOWTIDE_VECTOR_CLONES void divide_by(float sum, float* y, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) {
    const float quotient = y[at] / sum;
    y[at] = quotient < kSmallest ? 0.0F : quotient;
  }
}

}  // namespace

void softmax_row(const float* x, float* y, std::int64_t count) {
  exponentials(x, largest_in(x, count), y, count);
  divide_by(total_of(y, count), y, count);
}

}  // namespace lowtide::kernels_internal
