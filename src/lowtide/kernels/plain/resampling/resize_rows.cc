// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/resampling/resize_rows.h"

#include <algorithm>
#include <cstring>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {
namespace {

using ResultRows = Interval<std::int64_t>;

// Where a row of the result is on all axes but the last.
class RowPlace {
 public:
  RowPlace(const ResizePlan& plan, std::int64_t row) : plan_(plan) {
    for (int axis = plan.rank - 2; axis >= 0; --axis) {
      const std::int64_t out = plan[axis].axis.out;
      index_[static_cast<std::size_t>(axis)] = row % out;
      row /= out;
    }
  }

  [[nodiscard]] std::int64_t operator[](int axis) const { return index_[static_cast<std::size_t>(axis)]; }

  // The element of the operand with which tap 0 of all axes begins, or -1 if the row is outside of the region.
  [[nodiscard]] std::int64_t source() const {
    std::int64_t source = 0;
    for (int axis = 0; axis < plan_.rank - 1; ++axis) {
      const std::int64_t begin = plan_[axis].begin((*this)[axis]);
      if (begin < 0) return -1;
      source += begin * plan_[axis].stride;
    }
    return source;
  }

  void advance() {
    for (int axis = plan_.rank - 2; axis >= 0; --axis) {
      if (++index_[static_cast<std::size_t>(axis)] < plan_[axis].axis.out) return;
      index_[static_cast<std::size_t>(axis)] = 0;
    }
  }

 private:
  const ResizePlan& plan_;
  std::array<std::int64_t, kMostAxes> index_{};
};

LOWTIDE_VECTOR_CLONES void write_weighted(const float* x, float weight, float* y, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) y[at] = weight * x[at];
}

LOWTIDE_VECTOR_CLONES void add_weighted(const float* x, float weight, float* y, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) y[at] += weight * x[at];
}

// Linear modes have two taps.
LOWTIDE_VECTOR_CLONES void blend_pairs(const float* x, const Taps& taps, float* y, std::int64_t count) {
  const std::int64_t* begins = taps.begins;
  const float* weights = taps.weights;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t begin = begins[at] < 0 ? 0 : begins[at];
    y[at] = weights[2 * at] * x[begin] + weights[2 * at + 1] * x[begin + 1];
  }
}

void blend_last(const PlannedAxis& last, const float* x, float* y) {
  const std::int64_t count = last.taps.count;
  if (count == 2) return blend_pairs(x, last.taps, y, last.axis.out);
  for (std::int64_t at = 0; at < last.axis.out; ++at) {
    const float* from = x + std::max<std::int64_t>(last.taps.begins[at], 0);
    const float* weights = last.taps.weights + at * count;
    float sum = 0;
    for (std::int64_t tap = 0; tap < count; ++tap) sum += weights[tap] * from[tap];
    y[at] = sum;
  }
}

// The sum of the rows of the operand that all combinations of the taps of the axes but the last lead to.
void blend_others(const ResizePlan& plan, const RowPlace& place, const float* x, float* y) {
  const std::int64_t in = plan[plan.rank - 1].axis.in;
  std::int64_t combinations = 1;
  for (int axis = 0; axis < plan.rank - 1; ++axis) combinations *= plan[axis].taps.count;
  bool is_first = true;
  for (std::int64_t number = 0; number < combinations; ++number) {
    float weight = 1;
    const float* from = x;
    std::int64_t rest = number;
    for (int axis = plan.rank - 2; axis >= 0; --axis) {
      const Taps& taps = plan[axis].taps;
      if (plan[axis].is_kept()) continue;
      const std::int64_t tap = rest % taps.count;
      rest /= taps.count;
      weight *= taps.weights[place[axis] * taps.count + tap];
      from += tap * plan[axis].stride;
    }
    if (weight == 0) continue;
    if (is_first) {
      write_weighted(from, weight, y, in);
    } else {
      add_weighted(from, weight, y, in);
    }
    is_first = false;
  }
  if (is_first) std::fill_n(y, in, 0.0F);
}

template <typename T>
void copy_row(const PlannedAxis& last, const T* x, T* y, T outside) {
  if (last.is_kept()) {
    std::copy_n(x, last.axis.out, y);
    return;
  }
  for (std::int64_t at = 0; at < last.axis.out; ++at) {
    const std::int64_t begin = last.taps.begins[at];
    y[at] = begin < 0 ? outside : x[begin];
  }
}

// Calls row(place, source, number of the row) for all rows of a share.
template <typename Row>
void for_rows(const ResizePlan& plan, ResultRows rows, const Row& run) {
  RowPlace place(plan, rows.begin);
  for (std::int64_t row = rows.begin; row < rows.end; ++row, place.advance()) run(place, place.source(), row);
}

// Calls run(share, its rows), side by side if there are enough elements.
template <typename Run>
void run_row_shares(const ResizeRows& of, Team& team, const Run& run) {
  const ResizePlan& plan = of.plan;
  std::int64_t rows = 1;
  for (int axis = 0; axis < plan.rank - 1; ++axis) rows *= plan[axis].axis.out;
  const auto elements = static_cast<double>(rows * plan[plan.rank - 1].axis.out);
  const int shares = team.threads() > 1 ? threads_with_work(of.shares, rows, elements) : 1;
  run_shares(team, shares, [&](int share) {
    run(share, ResultRows{rows * share / shares, rows * (share + 1) / shares});
    return RunCode::ok;
  });
}

template <typename T>
void move_rows(const ResizeRows& of, const Operands& operands, Team& team) {
  const PlannedAxis& last = of.plan[of.plan.rank - 1];
  const T* x = elements<T>(operands.reads[0]);
  T* y = mutable_elements<T>(operands.writes[0]);
  T outside{};
  // Only f32 has a value for elements outside of the region. Other types are moved as bytes.
  if (operands.reads[0].dtype == DType::f32) std::memcpy(&outside, &of.outside, sizeof outside);
  run_row_shares(of, team, [&](int /*share*/, ResultRows rows) {
    for_rows(of.plan, rows, [&](const RowPlace& /*place*/, std::int64_t source, std::int64_t row) {
      T* to = y + row * last.axis.out;
      if (source < 0) {
        std::fill_n(to, last.axis.out, outside);
      } else {
        copy_row<T>(last, x + source, to, outside);
      }
    });
  });
}

}  // namespace

void ResizeRows::blend(const Operands& operands, Team& team) const {
  const PlannedAxis& last = plan[plan.rank - 1];
  const float* x = elements<float>(operands.reads[0]);
  float* y = mutable_elements<float>(operands.writes[0]);
  run_row_shares(*this, team, [&](int share, ResultRows rows) {
    float* const of_share = blended + share * last.axis.in;
    for_rows(plan, rows, [&](const RowPlace& place, std::int64_t source, std::int64_t row) {
      float* to = y + row * last.axis.out;
      if (source < 0) {
        std::fill_n(to, last.axis.out, outside);
        return;
      }
      blend_others(plan, place, x + source, last.is_kept() ? to : of_share);
      if (last.is_kept()) return;
      blend_last(last, of_share, to);
      for (std::int64_t at = 0; at < last.axis.out; ++at) {
        if (last.taps.begins[at] < 0) to[at] = outside;
      }
    });
  });
}

void ResizeRows::move(const Operands& operands, Team& team) const {
  switch (element_bytes(operands.reads[0].dtype)) {
    case 1: return move_rows<std::uint8_t>(*this, operands, team);
    case 2: return move_rows<std::uint16_t>(*this, operands, team);
    case 4: return move_rows<std::uint32_t>(*this, operands, team);
    default: return move_rows<std::uint64_t>(*this, operands, team);
  }
}

}  // namespace lowtide::kernels_internal
