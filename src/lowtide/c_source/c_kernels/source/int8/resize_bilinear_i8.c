// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Pixels between those of the input. The tables have 3 numbers for each row of the output: two rows of the input, and
// the weight of the second one out of 1024; and the same for columns. At the end of an input, weights may be far outside
// of 0 to 1024.
struct lowtide_resize_bilinear_i8 {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t channels;
  int32_t output_rows;
  int32_t output_columns;
};

static void lowtide_resize_bilinear_i8(const struct lowtide_resize_bilinear_i8 *p, const int8_t *input,
                                       const int32_t *rows, const int32_t *columns, int8_t *output) {
  for (int32_t batch = 0; batch < p->batches; ++batch) {
    for (int32_t row = 0; row < p->output_rows; ++row) {
      const int32_t *y = rows + 3 * row;
      for (int32_t column = 0; column < p->output_columns; ++column) {
        const int32_t *x = columns + 3 * column;
        const int8_t *upper_left = input + (y[0] * p->input_columns + x[0]) * p->channels;
        const int8_t *upper_right = input + (y[0] * p->input_columns + x[1]) * p->channels;
        const int8_t *lower_left = input + (y[1] * p->input_columns + x[0]) * p->channels;
        const int8_t *lower_right = input + (y[1] * p->input_columns + x[1]) * p->channels;
        for (int32_t c = 0; c < p->channels; ++c) {
          const int32_t upper = upper_left[c] * (1024 - x[2]) + upper_right[c] * x[2];
          const int32_t lower = lower_left[c] * (1024 - x[2]) + lower_right[c] * x[2];
          const int64_t sum = (int64_t)upper * (1024 - y[2]) + (int64_t)lower * y[2];
          *output++ = (int8_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
        }
      }
    }
    input += p->input_rows * p->input_columns * p->channels;
  }
}
