// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add clamp scale next_row
// in place: input

// The input where it is not below 0, and its product with alpha elsewhere.
struct lowtide_prelu_i8 {
  int32_t counts[4];  // elements of the output along each axis
  int32_t input_steps[4];
  int32_t alpha_steps[4];
  int32_t input_zero_point;
  int32_t alpha_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
  int32_t alpha_multiplier;
  int32_t alpha_shift;
};

static void lowtide_prelu_i8(const struct lowtide_prelu_i8 *p, const int8_t *input, const int8_t *alpha,
                             int8_t *output) {
  int32_t at[3] = {0, 0, 0};
  int32_t a = 0;
  int32_t b = 0;
  do {
    for (int32_t i = 0; i < p->counts[3]; ++i) {
      const int32_t x = input[a + i * p->input_steps[3]] - p->input_zero_point;
      const int32_t y = alpha[b + i * p->alpha_steps[3]] - p->alpha_zero_point;
      const int32_t scaled = x >= 0 ? lowtide_scale(x, p->multiplier, p->shift)
                                    : lowtide_scale(x * y, p->alpha_multiplier, p->alpha_shift);
      *output++ = (int8_t)lowtide_clamp(lowtide_add(scaled, p->output_zero_point), INT8_MIN, INT8_MAX);
    }
  } while (lowtide_next_row(p->counts, p->input_steps, p->alpha_steps, at, &a, &b));
}
