// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add clamp scale first_tap end_tap
// null: bias

// A convolution of each channel alone. The weights are [row][column][output channel]. Output channel i reads input
// channel i / multiplier.
struct lowtide_depthwise_conv_2d_i8 {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t input_channels;
  int32_t output_rows;
  int32_t output_columns;
  int32_t multiplier;  // output channels per input channel
  int32_t window_rows;
  int32_t window_columns;
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

static void lowtide_depthwise_conv_2d_i8(const struct lowtide_depthwise_conv_2d_i8 *p, const int8_t *input,
                                         const int8_t *weights, const int32_t *bias, const int32_t *multipliers,
                                         const int32_t *shifts, int8_t *output) {
  enum { lanes = 16 };  // channels that are summed together
  const int32_t channels = p->input_channels * p->multiplier;
  const int32_t offset = -p->input_zero_point;
  for (int32_t batch = 0; batch < p->batches; ++batch) {
    for (int32_t row = 0; row < p->output_rows; ++row) {
      const int32_t y = row * p->row_stride - p->top;
      const int32_t first_row = lowtide_first_tap(y, p->row_dilation);
      const int32_t end_row = lowtide_end_tap(y, p->row_dilation, p->input_rows, p->window_rows);
      for (int32_t column = 0; column < p->output_columns; ++column) {
        const int32_t x = column * p->column_stride - p->left;
        const int32_t first_column = lowtide_first_tap(x, p->column_dilation);
        const int32_t end_column = lowtide_end_tap(x, p->column_dilation, p->input_columns, p->window_columns);
        for (int32_t channel = 0; channel < channels;) {
          // With a multiplier, all these channels read one channel of the input.
          const int32_t from = channel / p->multiplier;
          const int32_t more = (p->multiplier > 1 ? (from + 1) * p->multiplier : channels) - channel;
          const int32_t count = more < lanes ? more : lanes;
          uint32_t sums[lanes];  // wrap around
          for (int32_t c = 0; c < count; ++c) sums[c] = bias ? (uint32_t)bias[channel + c] : 0;
          for (int32_t i = first_row; i < end_row; ++i) {
            const int32_t place = (y + i * p->row_dilation) * p->input_columns + x + first_column * p->column_dilation;
            const int8_t *pixel = input + place * p->input_channels + from;
            const int8_t *tap = weights + (i * p->window_columns + first_column) * channels + channel;
            for (int32_t j = first_column; j < end_column; ++j) {
              // Loops of a fixed length become vector instructions.
              if (p->multiplier > 1) {
                const int16_t factor = (int16_t)(*pixel + offset);
                if (count == 8) {
                  for (int32_t c = 0; c < 8; ++c) sums[c] += (uint32_t)(tap[c] * factor);
                } else {
                  for (int32_t c = 0; c < count; ++c) sums[c] += (uint32_t)(tap[c] * factor);
                }
              } else if (count == lanes) {
                for (int32_t c = 0; c < lanes; ++c) sums[c] += (uint32_t)(tap[c] * (int16_t)(pixel[c] + offset));
              } else if (count == 8) {
                for (int32_t c = 0; c < 8; ++c) sums[c] += (uint32_t)(tap[c] * (int16_t)(pixel[c] + offset));
              } else {
                for (int32_t c = 0; c < count; ++c) sums[c] += (uint32_t)(tap[c] * (pixel[c] + offset));
              }
              pixel += p->column_dilation * p->input_channels;
              tap += channels;
            }
          }
          for (int32_t c = 0; c < count; ++c, ++channel) {
            const int32_t k = p->per_channel ? channel : 0;
            const int32_t scaled = lowtide_scale((int32_t)sums[c], multipliers[k], shifts[k]);
            *output++ = (int8_t)lowtide_clamp(lowtide_add(scaled, p->output_zero_point), p->lowest, p->highest);
          }
        }
      }
    }
    input += p->input_rows * p->input_columns * p->input_channels;
  }
}
