// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add clamp scale dot_i8 dot_4_i8
// null: bias

// Products of each row of the input with the weights, which are [unit][depth].
struct lowtide_fully_connected_i8 {
  int32_t rows;
  int32_t depth;
  int32_t units;
  int32_t input_zero_point;
  int32_t weights_zero_point;
  int32_t output_zero_point;
  int32_t lowest;  // limits of the output
  int32_t highest;
  int32_t per_channel;  // 1: each unit has a multiplier and a shift; 0: all have one
};

static void lowtide_fully_connected_i8(const struct lowtide_fully_connected_i8 *p, const int8_t *input,
                                       const int8_t *weights, const int32_t *bias, const int32_t *multipliers,
                                       const int32_t *shifts, int8_t *output) {
  const int32_t most = 65536;  // products of one sum
  for (int32_t row = 0; row < p->rows; ++row) {
    uint32_t correction = 0;  // what the zero point of the weights adds to each sum; wraps around
    if (p->weights_zero_point != 0) {
      for (int32_t i = 0; i < p->depth; ++i) correction += (uint32_t)(input[i] - p->input_zero_point);
      correction *= (uint32_t)-p->weights_zero_point;
    }
    for (int32_t unit = 0; unit < p->units;) {
      const int32_t units = unit + 4 <= p->units ? 4 : 1;
      int32_t sums[4];
      for (int32_t i = 0; i < units; ++i) sums[i] = lowtide_add((int32_t)correction, bias ? bias[unit + i] : 0);
      const int8_t *filter = weights + unit * p->depth;
      for (int32_t at = 0; at < p->depth;) {
        const int32_t count = p->depth - at < most ? p->depth - at : most;
        if (units == 4) {
          lowtide_dot_4_i8(filter + at, p->depth, input + at, count, -p->input_zero_point, sums);
        } else {
          sums[0] = lowtide_add(sums[0], lowtide_dot_i8(filter + at, input + at, count, -p->input_zero_point));
        }
        at += count;
      }
      for (int32_t i = 0; i < units; ++i, ++unit) {
        const int32_t k = p->per_channel ? unit : 0;
        const int32_t sum = lowtide_add(lowtide_scale(sums[i], multipliers[k], shifts[k]), p->output_zero_point);
        *output++ = (int8_t)lowtide_clamp(sum, p->lowest, p->highest);
      }
    }
    input += p->depth;
  }
}
