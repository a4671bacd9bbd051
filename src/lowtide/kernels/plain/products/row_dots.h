// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/team.h"

namespace lowtide::kernels_internal {

// A vector that a matrix is multiplied with, and where its products go: y[row] = dot(row of the matrix, x).
struct DotColumn {
  const float* x = nullptr;
  float* y = nullptr;
};

// Rows of a matrix, one behind another, that are multiplied with vectors of `inner` elements.
struct DotMatrix {
  const float* elements = nullptr;  // [row][inner]
  std::int64_t inner = 0;
  Interval<std::int64_t> rows;
  // From the last row to the first. A caller that multiplies the same matrix again and again turns around each time:
  // what a cache still has then comes first.
  bool is_backward = false;
};

// Computes all rows for all columns. A product has the bits of dot() (dot.h), however the work is divided. A row of the
// matrix is read from memory once for all columns. Nothing that a column writes may be read by another one.
void write_dots(const DotMatrix& matrix, std::span<const DotColumn> columns, Team& team);

}  // namespace lowtide::kernels_internal
