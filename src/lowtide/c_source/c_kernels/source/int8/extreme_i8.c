// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: next_row
// in place: first second

// The larger or the smaller one of two elements.
struct lowtide_extreme_i8 {
  int32_t counts[4];  // elements of the output along each axis
  int32_t first_steps[4];
  int32_t second_steps[4];
  int32_t sign;  // 1: the larger one; -1: the smaller one
};

static void lowtide_extreme_i8(const struct lowtide_extreme_i8 *p, const int8_t *first, const int8_t *second,
                               int8_t *output) {
  int32_t at[3] = {0, 0, 0};
  int32_t a = 0;
  int32_t b = 0;
  do {
    for (int32_t i = 0; i < p->counts[3]; ++i) {
      const int8_t x = first[a + i * p->first_steps[3]];
      const int8_t y = second[b + i * p->second_steps[3]];
      *output++ = x * p->sign > y * p->sign ? x : y;
    }
  } while (lowtide_next_row(p->counts, p->first_steps, p->second_steps, at, &a, &b));
}
