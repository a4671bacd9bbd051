// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: clamp scale dot_i8
// null: bias

// A layer with memory. Each filter appends its product with the input to its row of the state, and drops the oldest
// one. The sum of the products of a row with the weights of time belongs to a unit, with those of `rank` filters.
struct lowtide_svdf_i8_i16 {
  int32_t batches;
  int32_t inputs;
  int32_t units;
  int32_t rank;
  int32_t memory;
  int32_t input_zero_point;
  int32_t state_zero_point;
  int32_t output_zero_point;
  int32_t state_multiplier;
  int32_t state_shift;
  int32_t multiplier;
  int32_t shift;
};

static void lowtide_svdf_i8_i16(const struct lowtide_svdf_i8_i16 *p, const int8_t *input, const int8_t *weights,
                                const int16_t *time_weights, const int32_t *bias, int16_t *state, int8_t *output) {
  for (int32_t batch = 0; batch < p->batches; ++batch) {
    const int8_t *filter = weights;
    const int16_t *times = time_weights;
    for (int32_t unit = 0; unit < p->units; ++unit) {
      int32_t sum = bias ? bias[unit] : 0;
      for (int32_t i = 0; i < p->rank; ++i) {
        int32_t newest = lowtide_dot_i8(filter, input, p->inputs, -p->input_zero_point);
        newest = lowtide_scale(newest, p->state_multiplier, p->state_shift);
        for (int32_t j = 0; j + 1 < p->memory; ++j) state[j] = state[j + 1];
        state[p->memory - 1] = (int16_t)(lowtide_clamp(newest, INT16_MIN, INT16_MAX) + p->state_zero_point);
        for (int32_t j = 0; j < p->memory; ++j) sum += times[j] * (state[j] - p->state_zero_point);
        filter += p->inputs;
        times += p->memory;
        state += p->memory;
      }
      sum = lowtide_scale(sum, p->multiplier, p->shift) + p->output_zero_point;
      *output++ = (int8_t)lowtide_clamp(sum, INT8_MIN, INT8_MAX);
    }
    input += p->inputs;
  }
}
