// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of 32 bits as integers of 8 bits.
struct lowtide_quantize_f32_i8 {
  int32_t count;
  float scale;
  int32_t zero_point;
};

static void lowtide_quantize_f32_i8(const struct lowtide_quantize_f32_i8 *p, const float *input, int8_t *output) {
  for (int32_t i = 0; i < p->count; ++i) {
    const float steps = roundf(input[i] / p->scale) + (float)p->zero_point;
    output[i] = (int8_t)(steps >= 127.0f ? 127 : steps >= -128.0f ? (int32_t)steps : -128);
  }
}
