// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add clamp scale dot_i8 dot_4_i8 first_tap end_tap
// null: bias

// A convolution. The weights are [output channel][row][column][input channel of the group].
struct lowtide_conv_2d_i8 {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t input_channels;
  int32_t output_rows;
  int32_t output_columns;
  int32_t output_channels;
  int32_t groups;  // of channels
  int32_t window_rows;
  int32_t window_columns;  // at most 65536 / (input_channels / groups)
  int32_t row_stride;
  int32_t column_stride;
  int32_t row_dilation;
  int32_t column_dilation;
  int32_t top;   // rows of padding before the input
  int32_t left;  // columns of padding before the input
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t lowest;  // limits of the output
  int32_t highest;
  int32_t per_channel;  // 1: each output channel has a multiplier and a shift; 0: all have one
};

static void lowtide_conv_2d_i8(const struct lowtide_conv_2d_i8 *p, const int8_t *input, const int8_t *weights,
                               const int32_t *bias, const int32_t *multipliers, const int32_t *shifts, int8_t *output) {
  const int32_t depth = p->input_channels / p->groups;
  const int32_t filters = p->output_channels / p->groups;
  const int32_t filter = p->window_rows * p->window_columns * depth;
  const int32_t input_row = p->row_dilation * p->input_columns * p->input_channels;
  // Without dilation and groups, the taps of a row follow each other in memory.
  const int32_t is_dense = p->column_dilation == 1 && p->groups == 1;
  for (int32_t batch = 0; batch < p->batches; ++batch) {
    for (int32_t row = 0; row < p->output_rows; ++row) {
      const int32_t y = row * p->row_stride - p->top;
      const int32_t first_row = lowtide_first_tap(y, p->row_dilation);
      const int32_t end_row = lowtide_end_tap(y, p->row_dilation, p->input_rows, p->window_rows);
      for (int32_t column = 0; column < p->output_columns; ++column) {
        const int32_t x = column * p->column_stride - p->left;
        const int32_t first = lowtide_first_tap(x, p->column_dilation);
        const int32_t end = lowtide_end_tap(x, p->column_dilation, p->input_columns, p->window_columns);
        const int32_t runs = is_dense ? 1 : end - first;
        const int32_t run = is_dense ? (end - first) * depth : depth;
        const int32_t pixel = (y + first_row * p->row_dilation) * p->input_columns + x + first * p->column_dilation;
        const int8_t *corner = input + pixel * p->input_channels;
        const int8_t *taps = weights + (first_row * p->window_columns + first) * depth;
        for (int32_t channel = 0; channel < p->output_channels;) {
          const int32_t count = p->groups == 1 && channel + 4 <= p->output_channels ? 4 : 1;
          const int8_t *from = p->groups == 1 ? corner : corner + channel / filters * depth;
          const int8_t *tap = taps;
          int32_t sums[4];
          for (int32_t i = 0; i < count; ++i) sums[i] = bias ? bias[channel + i] : 0;
          for (int32_t i = first_row; i < end_row; ++i) {
            for (int32_t j = 0; j < runs; ++j) {
              const int8_t *pixels = from + j * p->column_dilation * p->input_channels;
              if (count == 4) {
                lowtide_dot_4_i8(tap + j * depth, filter, pixels, run, -p->input_zero_point, sums);
              } else {
                sums[0] = lowtide_add(sums[0], lowtide_dot_i8(tap + j * depth, pixels, run, -p->input_zero_point));
              }
            }
            tap += p->window_columns * depth;
            from += input_row;
          }
          taps += count * filter;
          for (int32_t i = 0; i < count; ++i, ++channel) {
            const int32_t k = p->per_channel ? channel : 0;
            const int32_t sum = lowtide_add(lowtide_scale(sums[i], multipliers[k], shifts[k]), p->output_zero_point);
            *output++ = (int8_t)lowtide_clamp(sum, p->lowest, p->highest);
          }
        }
      }
    }
    input += p->input_rows * p->input_columns * p->input_channels;
  }
}
