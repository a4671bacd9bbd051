// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Moves to the next row of an output with 4 axes. Each step says how far an operand goes along an axis, 0 where it
// repeats. `at` has the place along the first 3 axes. Returns 0 after the last row.
static int32_t lowtide_next_row(const int32_t *counts, const int32_t *first_steps, const int32_t *second_steps,
                                int32_t *at, int32_t *first, int32_t *second) {
  for (int32_t axis = 2; axis >= 0; --axis) {
    *first += first_steps[axis];
    *second += second_steps[axis];
    if (++at[axis] < counts[axis]) return 1;
    *first -= counts[axis] * first_steps[axis];
    *second -= counts[axis] * second_steps[axis];
    at[axis] = 0;
  }
  return 0;
}
