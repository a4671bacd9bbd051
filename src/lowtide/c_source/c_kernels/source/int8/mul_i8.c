// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add clamp scale next_row
// in place: first second

// The product of two operands.
struct lowtide_mul_i8 {
  int32_t counts[4];  // elements of the output along each axis
  int32_t first_steps[4];
  int32_t second_steps[4];
  int32_t first_zero_point;
  int32_t second_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
  int32_t lowest;  // limits of the output
  int32_t highest;
};

static void lowtide_mul_i8(const struct lowtide_mul_i8 *p, const int8_t *first, const int8_t *second, int8_t *output) {
  int32_t at[3] = {0, 0, 0};
  int32_t a = 0;
  int32_t b = 0;
  do {
    for (int32_t i = 0; i < p->counts[3]; ++i) {
      const int32_t x = first[a + i * p->first_steps[3]] - p->first_zero_point;
      const int32_t y = second[b + i * p->second_steps[3]] - p->second_zero_point;
      const int32_t scaled = lowtide_add(lowtide_scale(x * y, p->multiplier, p->shift), p->output_zero_point);
      *output++ = (int8_t)lowtide_clamp(scaled, p->lowest, p->highest);
    }
  } while (lowtide_next_row(p->counts, p->first_steps, p->second_steps, at, &a, &b));
}
