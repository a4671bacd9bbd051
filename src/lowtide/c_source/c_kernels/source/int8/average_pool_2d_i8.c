// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: clamp first_tap end_tap

// The mean of each window, for each channel alone. Padding does not count.
struct lowtide_average_pool_2d_i8 {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t channels;
  int32_t output_rows;
  int32_t output_columns;
  int32_t window_rows;
  int32_t window_columns;
  int32_t row_stride;
  int32_t column_stride;
  int32_t top;     // rows of padding before the input
  int32_t left;    // columns of padding before the input
  int32_t lowest;  // limits of the output
  int32_t highest;
};

static void lowtide_average_pool_2d_i8(const struct lowtide_average_pool_2d_i8 *p, const int8_t *input,
                                       int8_t *output) {
  for (int32_t batch = 0; batch < p->batches; ++batch) {
    for (int32_t row = 0; row < p->output_rows; ++row) {
      const int32_t y = row * p->row_stride - p->top;
      const int32_t first_row = lowtide_first_tap(y, 1);
      const int32_t end_row = lowtide_end_tap(y, 1, p->input_rows, p->window_rows);
      for (int32_t column = 0; column < p->output_columns; ++column) {
        const int32_t x = column * p->column_stride - p->left;
        const int32_t first_column = lowtide_first_tap(x, 1);
        const int32_t end_column = lowtide_end_tap(x, 1, p->input_columns, p->window_columns);
        const int32_t taps = (end_row - first_row) * (end_column - first_column);
        for (int32_t channel = 0; channel < p->channels; ++channel) {
          int32_t sum = 0;
          for (int32_t i = first_row; i < end_row; ++i) {
            const int8_t *pixel = input + ((y + i) * p->input_columns + x + first_column) * p->channels + channel;
            for (int32_t j = first_column; j < end_column; ++j) {
              sum += *pixel;
              pixel += p->channels;
            }
          }
          const int32_t mean = (sum + (sum > 0 ? taps / 2 : -(taps / 2))) / taps;
          *output++ = (int8_t)lowtide_clamp(mean, p->lowest, p->highest);
        }
      }
    }
    input += p->input_rows * p->input_columns * p->channels;
  }
}
