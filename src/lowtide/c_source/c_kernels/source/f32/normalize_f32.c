// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// null: factors addends
// in place: input

// Gives each row the mean 0 and the variance 1, and then multiplies by a factor and adds a number. Element i of all rows
// has factor (i / repeats) % factors. May work in place.
struct lowtide_normalize_f32 {
  int32_t rows;
  int32_t row;  // elements of a row; a multiple of `repeats`
  int32_t factors;
  int32_t repeats;
  int32_t keeps_mean;  // 1: only the root of the mean square becomes 1
  float epsilon;
};

static void lowtide_normalize_f32(const struct lowtide_normalize_f32 *p, const float *input, const float *factors,
                                  const float *addends, float *output) {
  int32_t factor = 0;
  for (int32_t row = 0; row < p->rows; ++row) {
    float mean = 0.0f;
    if (p->keeps_mean == 0) {
      for (int32_t i = 0; i < p->row; ++i) mean += input[i];
      mean /= (float)p->row;
    }
    float variance = 0.0f;
    for (int32_t i = 0; i < p->row; ++i) {
      const float distance = input[i] - mean;
      variance += distance * distance;
    }
    const float scale = 1.0f / sqrtf(variance / (float)p->row + p->epsilon);
    for (int32_t begin = 0; begin < p->row; begin += p->repeats) {
      const float times = scale * (factors != 0 ? factors[factor] : 1.0f);
      const float plus = addends != 0 ? addends[factor] : 0.0f;
      for (int32_t i = begin; i < begin + p->repeats; ++i) output[i] = (input[i] - mean) * times + plus;
      factor = factor + 1 < p->factors ? factor + 1 : 0;
    }
    input += p->row;
    output += p->row;
  }
}
