// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// in place: input

// Divides each row by the root of the sum of its squares, or by `least` where that is larger. May work in place.
struct lowtide_l2_normalize_f32 {
  int32_t rows;
  int32_t row;  // elements of a row
  float least;
};

static void lowtide_l2_normalize_f32(const struct lowtide_l2_normalize_f32 *p, const float *input, float *output) {
  for (int32_t row = 0; row < p->rows; ++row) {
    float sum = 0.0f;
    for (int32_t i = 0; i < p->row; ++i) sum += input[i] * input[i];
    const float root = sqrtf(sum);
    const float length = root > p->least ? root : p->least;
    for (int32_t i = 0; i < p->row; ++i) output[i] = input[i] / length;
    input += p->row;
    output += p->row;
  }
}
