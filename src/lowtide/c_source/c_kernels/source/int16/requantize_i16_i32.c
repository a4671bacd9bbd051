// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: scale

// Elements with another scale and another zero point.
struct lowtide_requantize_i16_i32 {
  int32_t count;
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
};

static void lowtide_requantize_i16_i32(const struct lowtide_requantize_i16_i32 *p, const int16_t *input,
                                       int32_t *output) {
  for (int32_t i = 0; i < p->count; ++i) {
    output[i] = lowtide_scale(input[i] - p->input_zero_point, p->multiplier, p->shift) + p->output_zero_point;
  }
}
