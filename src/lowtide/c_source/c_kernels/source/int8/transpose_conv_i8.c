// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add clamp scale dot_i8
// null: bias

// A transposed convolution: each pixel of the input is spread over a window of the output. The weights are
// [output channel][row][column][input channel].
struct lowtide_transpose_conv_i8 {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t input_channels;  // at most 65536
  int32_t output_rows;
  int32_t output_columns;
  int32_t output_channels;
  int32_t window_rows;
  int32_t window_columns;
  int32_t row_stride;
  int32_t column_stride;
  int32_t top;   // rows of the spread input before the output
  int32_t left;  // columns of the spread input before the output
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t lowest;  // limits of the output
  int32_t highest;
  int32_t per_channel;  // 1: each output channel has a multiplier and a shift; 0: all have one
};

static void lowtide_transpose_conv_i8(const struct lowtide_transpose_conv_i8 *p, const int8_t *input,
                                      const int8_t *weights, const int32_t *bias, const int32_t *multipliers,
                                      const int32_t *shifts, int8_t *output) {
  const int32_t depth = p->input_channels;
  for (int32_t batch = 0; batch < p->batches; ++batch) {
    for (int32_t row = 0; row < p->output_rows; ++row) {
      for (int32_t column = 0; column < p->output_columns; ++column) {
        for (int32_t channel = 0; channel < p->output_channels; ++channel) {
          int32_t sum = bias ? bias[channel] : 0;
          // Every stride-th tap of the window is over a pixel of the input.
          for (int32_t i = (row + p->top) % p->row_stride; i < p->window_rows; i += p->row_stride) {
            const int32_t y = (row + p->top - i) / p->row_stride;
            if (row + p->top < i || y >= p->input_rows) continue;
            for (int32_t j = (column + p->left) % p->column_stride; j < p->window_columns; j += p->column_stride) {
              const int32_t x = (column + p->left - j) / p->column_stride;
              if (column + p->left < j || x >= p->input_columns) continue;
              const int8_t *tap = weights + ((channel * p->window_rows + i) * p->window_columns + j) * depth;
              const int8_t *pixel = input + (y * p->input_columns + x) * depth;
              sum = lowtide_add(sum, lowtide_dot_i8(tap, pixel, depth, -p->input_zero_point));
            }
          }
          const int32_t k = p->per_channel ? channel : 0;
          sum = lowtide_add(lowtide_scale(sum, multipliers[k], shifts[k]), p->output_zero_point);
          *output++ = (int8_t)lowtide_clamp(sum, p->lowest, p->highest);
        }
      }
    }
    input += p->input_rows * p->input_columns * depth;
  }
}
