// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Integers of 8 bits as numbers of 32 bits.
struct lowtide_dequantize_i8_f32 {
  int32_t count;
  float scale;
  int32_t zero_point;
};

static void lowtide_dequantize_i8_f32(const struct lowtide_dequantize_i8_f32 *p, const int8_t *input, float *output) {
  for (int32_t i = 0; i < p->count; ++i) output[i] = p->scale * (float)(input[i] - p->zero_point);
}
