// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// x / 2^shift, rounded to the nearest integer, and halves away from zero. 0 <= shift <= 31.
static int32_t lowtide_shift_right(int32_t x, int32_t shift) {
  const int32_t mask = (int32_t)((1u << shift) - 1u);
  const int32_t rest = x & mask;
  const int32_t half = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> shift) + (rest > half ? 1 : 0);
}
