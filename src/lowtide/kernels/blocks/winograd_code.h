// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/blocks/winograd_step.h"

// For the sources that are compiled for one instruction set, as tile_code.h.

namespace lowtide::kernels_internal {

// NOLINTBEGIN(*-avoid-c-arrays): arrays of registers, all of whose indices are constants after unrolling

// The matrices are products of additions alone, except for the halves of the weights.
template <typename Lanes>
struct Squares {
  using Vector = typename Lanes::Vector;
  static constexpr std::int64_t kLanes = Lanes::kCount;
  static constexpr std::int64_t kLine = kReach;  // points of a row

  static void transform_source(const SquareSource& work) {
    const bool is_inside =
        work.first_row == 0 && work.end_row == kReach && work.first_column == 0 && work.end_column == kReach;
    for (std::int64_t block = 0; block < work.blocks; ++block) {
      const float* source = work.source + block * work.block_step;
      float* points = work.points + block * work.points_block_step;
      if (!is_inside) {
        transform_square<false>(work, source, points);
        continue;
      }
      for (std::int64_t square = 0; square < work.count; ++square) {
        transform_square<true>(work, source, points);
        source += kSquare * work.column_step;
        points += kLanes;
      }
    }
  }

  static void transform_weights(const SquareWeights& work) {
    constexpr std::int64_t kTap = kLanes * kLanes;
    for (int result = 0; result < work.results; ++result) {
      for (std::int64_t block = 0; block < work.blocks; ++block) {
        const float* weights = work.weights + result * work.result_step + block * 9 * kTap;
        float* points = work.points + (result * work.blocks + block) * kTap;
        for (std::int64_t channel = 0; channel < kLanes; ++channel, weights += kLanes, points += kLanes) {
          // The next block comes from memory in the meantime.
          for (std::int64_t tap = 0; tap < 9; ++tap) __builtin_prefetch(weights + (9 + tap) * kTap, 0, 2);
          const Four left = to_points(load_tap(weights, 0), load_tap(weights, 3), load_tap(weights, 6));
          const Four middle = to_points(load_tap(weights, 1), load_tap(weights, 4), load_tap(weights, 7));
          const Four right = to_points(load_tap(weights, 2), load_tap(weights, 5), load_tap(weights, 8));
          const std::int64_t step = work.point_step;
          store_row(to_points(left.p, middle.p, right.p), points, step);
          store_row(to_points(left.q, middle.q, right.q), points + kLine * step, step);
          store_row(to_points(left.r, middle.r, right.r), points + 2 * kLine * step, step);
          store_row(to_points(left.s, middle.s, right.s), points + 3 * kLine * step, step);
        }
      }
    }
  }

  static void transform_result(const SquareResult& work) {
    const Vector bias = Lanes::load(work.bias);
    const Vector low = Lanes::splat(work.low);
    const Vector high = Lanes::splat(work.high);
    for (std::int64_t square = 0; square < work.count; ++square) {
      const float* const points = work.points + square * work.square_step;
      const Two c0 = to_results(load_column(points, work.point_step));
      const Two c1 = to_results(load_column(points + work.point_step, work.point_step));
      const Two c2 = to_results(load_column(points + 2 * work.point_step, work.point_step));
      const Two c3 = to_results(load_column(points + 3 * work.point_step, work.point_step));
      const int columns = square + 1 == work.count ? work.last_columns : kSquare;
      const std::int64_t first = square * kSquare * work.column_step;
#pragma GCC unroll 2
      for (int r = 0; r < kSquare; ++r) {
        if (r >= work.rows) continue;
        const Two row = r == 0 ? to_results({c0.a, c1.a, c2.a, c3.a}) : to_results({c0.b, c1.b, c2.b, c3.b});
#pragma GCC unroll 2
        for (int c = 0; c < kSquare; ++c) {
          if (c >= columns) continue;
          const std::int64_t at = first + r * work.row_step + c * work.column_step;
          Vector sum = (c == 0 ? row.a : row.b) + bias;
          if (work.addend != nullptr) sum = sum + Lanes::load(work.addend + at);
          Lanes::store(work.result + at, Lanes::bounded(sum, low, high));
        }
      }
    }
  }

 private:
  // Along one axis: four points, and two results.
  struct Four {
    Vector p, q, r, s;
  };
  struct Two {
    Vector a, b;
  };
  static Four to_points(Vector a, Vector b, Vector c) {
    const Vector half = Lanes::splat(0.5F);
    const Vector outer = (a + c) * half;
    const Vector inner = b * half;
    return {a, outer + inner, outer - inner, c};
  }
  static Two to_results(const Four& of) { return {of.p + of.q + of.r, of.q - of.r - of.s}; }

  static Vector load_tap(const float* weights, int tap) { return Lanes::load(weights + tap * kLanes * kLanes); }
  static Four load_column(const float* points, std::int64_t step) {
    return {Lanes::load(points), Lanes::load(points + kLine * step), Lanes::load(points + 2 * kLine * step),
            Lanes::load(points + 3 * kLine * step)};
  }
  static void store_row(const Four& row, float* points, std::int64_t step) {
    Lanes::store(points, row.p);
    Lanes::store(points + step, row.q);
    Lanes::store(points + 2 * step, row.r);
    Lanes::store(points + 3 * step, row.s);
  }

  template <bool is_inside>
  static void transform_square(const SquareSource& work, const float* source, float* points) {
    Vector half[kReach][kReach];
#pragma GCC unroll 4
    for (int c = 0; c < kReach; ++c) {
      const auto place = [&](int r) {
        if constexpr (!is_inside) {
          const bool is_padding =
              r < work.first_row || r >= work.end_row || c < work.first_column || c >= work.end_column;
          if (is_padding) return Lanes::splat(0);
        }
        return Lanes::load(source + r * work.row_step + c * work.column_step);
      };
      const Vector p = place(0);
      const Vector q = place(1);
      const Vector r = place(2);
      const Vector s = place(3);
      half[0][c] = p - r;
      half[1][c] = q + r;
      half[2][c] = r - q;
      half[3][c] = q - s;
    }
#pragma GCC unroll 4
    for (int r = 0; r < kReach; ++r) {
      float* const row = points + r * kLine * work.point_step;
      Lanes::store(row, half[r][0] - half[r][2]);
      Lanes::store(row + work.point_step, half[r][1] + half[r][2]);
      Lanes::store(row + 2 * work.point_step, half[r][2] - half[r][1]);
      Lanes::store(row + 3 * work.point_step, half[r][1] - half[r][3]);
    }
  }
};
// NOLINTEND(*-avoid-c-arrays)

template <typename Lanes>
SquareFunctions squares_in() {
  return {&Squares<Lanes>::transform_source, &Squares<Lanes>::transform_weights, &Squares<Lanes>::transform_result};
}

}  // namespace lowtide::kernels_internal
