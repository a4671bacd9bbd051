// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: clamp scale
// in place: input

// Elements with another scale and another zero point.
struct lowtide_requantize_i16_i16 {
  int32_t count;
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
};

static void lowtide_requantize_i16_i16(const struct lowtide_requantize_i16_i16 *p, const int16_t *input,
                                       int16_t *output) {
  for (int32_t i = 0; i < p->count; ++i) {
    const int32_t scaled = lowtide_scale(input[i] - p->input_zero_point, p->multiplier, p->shift);
    output[i] = (int16_t)lowtide_clamp(scaled + p->output_zero_point, INT16_MIN, INT16_MAX);
  }
}
