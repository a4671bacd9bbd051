// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add clamp scale next_row
// in place: first second

// The square of the difference of two operands that are brought to one scale.
struct lowtide_squared_difference_i8 {
  int32_t counts[4];  // elements of the output along each axis
  int32_t first_steps[4];
  int32_t second_steps[4];
  int32_t first_zero_point;
  int32_t second_zero_point;
  int32_t output_zero_point;
  int32_t left_shift;  // bits that both get for their difference
  int32_t first_multiplier;
  int32_t first_shift;
  int32_t second_multiplier;
  int32_t second_shift;
  int32_t multiplier;  // of the square
  int32_t shift;
};

static void lowtide_squared_difference_i8(const struct lowtide_squared_difference_i8 *p, const int8_t *first,
                                          const int8_t *second, int8_t *output) {
  const int32_t one = (int32_t)1 << p->left_shift;
  int32_t at[3] = {0, 0, 0};
  int32_t a = 0;
  int32_t b = 0;
  do {
    for (int32_t i = 0; i < p->counts[3]; ++i) {
      const int32_t x = (first[a + i * p->first_steps[3]] - p->first_zero_point) * one;
      const int32_t y = (second[b + i * p->second_steps[3]] - p->second_zero_point) * one;
      const int32_t difference = lowtide_scale(x, p->first_multiplier, p->first_shift) -
                                 lowtide_scale(y, p->second_multiplier, p->second_shift);
      const int32_t scaled = lowtide_scale(difference * difference, p->multiplier, p->shift);
      *output++ = (int8_t)lowtide_clamp(lowtide_add(scaled, p->output_zero_point), INT8_MIN, INT8_MAX);
    }
  } while (lowtide_next_row(p->counts, p->first_steps, p->second_steps, at, &a, &b));
}
