// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: first_tap end_tap
// null: bias

// A convolution of each channel alone, of images whose channels lie next to each other. The weights are
// [row][column][output channel]. Output channel i reads input channel i / multiplier.
struct lowtide_depthwise_conv_2d_nhwc_f32 {
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
  int32_t top;     // rows of padding before the input
  int32_t left;    // columns of padding before the input
  int32_t limits;  // 1: results are at least `minimum`; 2: and at most `maximum`
  float minimum;
  float maximum;
};

// The taps of a window that are inside of the input.
struct lowtide_depthwise_conv_2d_nhwc_f32_taps {
  int32_t rows;
  int32_t columns;
  int32_t row_step;  // elements between taps in the input
  int32_t column_step;
  int32_t weights_row_step;
  int32_t weights_column_step;
};

// Writes the results of `count` channels. `bias` is null or that of the first one.
static void lowtide_depthwise_conv_2d_nhwc_f32_store(const struct lowtide_depthwise_conv_2d_nhwc_f32 *p,
                                                     const float *sums, const float *bias, int32_t count,
                                                     float *output) {
  for (int32_t i = 0; i < count; ++i) {
    float sum = sums[i];
    if (bias != 0) sum += bias[i];
    if (p->limits > 0) sum = sum < p->minimum ? p->minimum : sum;
    if (p->limits > 1) sum = sum > p->maximum ? p->maximum : sum;
    output[i] = sum;
  }
}

// Sixteen channels. Loops over four elements become one vector instruction, and compilers would unroll them before they
// see that.
static void lowtide_depthwise_conv_2d_nhwc_f32_16(const struct lowtide_depthwise_conv_2d_nhwc_f32 *p,
                                                  const struct lowtide_depthwise_conv_2d_nhwc_f32_taps *taps,
                                                  const float *input, const float *weights, const float *bias,
                                                  float *output) {
  float sums[4][4];
  for (int32_t i = 0; i < 4; ++i) {
    for (int32_t j = 0; j < 4; ++j) sums[i][j] = 0.0f;
  }
  for (int32_t row = 0; row < taps->rows; ++row) {
    const float *x = input + row * taps->row_step;
    const float *w = weights + row * taps->weights_row_step;
    for (int32_t column = 0; column < taps->columns; ++column) {
#pragma GCC unroll 1
      for (int32_t j = 0; j < 4; ++j) {
        sums[0][j] += x[j] * w[j];
        sums[1][j] += x[4 + j] * w[4 + j];
        sums[2][j] += x[8 + j] * w[8 + j];
        sums[3][j] += x[12 + j] * w[12 + j];
      }
      x += taps->column_step;
      w += taps->weights_column_step;
    }
  }
  lowtide_depthwise_conv_2d_nhwc_f32_store(p, sums[0], bias, 16, output);
}

// Four channels.
static void lowtide_depthwise_conv_2d_nhwc_f32_4(const struct lowtide_depthwise_conv_2d_nhwc_f32 *p,
                                                 const struct lowtide_depthwise_conv_2d_nhwc_f32_taps *taps,
                                                 const float *input, const float *weights, const float *bias,
                                                 float *output) {
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int32_t row = 0; row < taps->rows; ++row) {
    const float *x = input + row * taps->row_step;
    const float *w = weights + row * taps->weights_row_step;
    for (int32_t column = 0; column < taps->columns; ++column) {
#pragma GCC unroll 1
      for (int32_t j = 0; j < 4; ++j) sums[j] += x[j] * w[j];
      x += taps->column_step;
      w += taps->weights_column_step;
    }
  }
  lowtide_depthwise_conv_2d_nhwc_f32_store(p, sums, bias, 4, output);
}

// One channel.
static void lowtide_depthwise_conv_2d_nhwc_f32_1(const struct lowtide_depthwise_conv_2d_nhwc_f32 *p,
                                                 const struct lowtide_depthwise_conv_2d_nhwc_f32_taps *taps,
                                                 const float *input, const float *weights, const float *bias,
                                                 float *output) {
  float sum = 0.0f;
  for (int32_t row = 0; row < taps->rows; ++row) {
    for (int32_t column = 0; column < taps->columns; ++column) {
      sum += input[row * taps->row_step + column * taps->column_step] *
             weights[row * taps->weights_row_step + column * taps->weights_column_step];
    }
  }
  lowtide_depthwise_conv_2d_nhwc_f32_store(p, &sum, bias, 1, output);
}

// All channels of one pixel.
static void lowtide_depthwise_conv_2d_nhwc_f32_pixel(const struct lowtide_depthwise_conv_2d_nhwc_f32 *p,
                                                     const struct lowtide_depthwise_conv_2d_nhwc_f32_taps *taps,
                                                     const float *input, const float *weights, const float *bias,
                                                     float *output) {
  const int32_t channels = p->input_channels * p->multiplier;
  int32_t channel = 0;
  if (p->multiplier == 1) {
    for (; channel + 16 <= channels; channel += 16) {
      lowtide_depthwise_conv_2d_nhwc_f32_16(p, taps, input + channel, weights + channel, bias, output + channel);
      if (bias != 0) bias += 16;
    }
    for (; channel + 4 <= channels; channel += 4) {
      lowtide_depthwise_conv_2d_nhwc_f32_4(p, taps, input + channel, weights + channel, bias, output + channel);
      if (bias != 0) bias += 4;
    }
  }
  for (; channel < channels; ++channel) {
    lowtide_depthwise_conv_2d_nhwc_f32_1(p, taps, input + channel / p->multiplier, weights + channel, bias,
                                         output + channel);
    if (bias != 0) ++bias;
  }
}

static void lowtide_depthwise_conv_2d_nhwc_f32(const struct lowtide_depthwise_conv_2d_nhwc_f32 *p, const float *input,
                                               const float *weights, const float *bias, float *output) {
  const int32_t channels = p->input_channels * p->multiplier;
  struct lowtide_depthwise_conv_2d_nhwc_f32_taps taps;
  taps.row_step = p->row_dilation * p->input_columns * p->input_channels;
  taps.column_step = p->column_dilation * p->input_channels;
  taps.weights_row_step = p->window_columns * channels;
  taps.weights_column_step = channels;
  for (int32_t image = 0; image < p->batches; ++image) {
    for (int32_t row = 0; row < p->output_rows; ++row) {
      const int32_t y = row * p->row_stride - p->top;
      const int32_t first_row = lowtide_first_tap(y, p->row_dilation);
      taps.rows = lowtide_end_tap(y, p->row_dilation, p->input_rows, p->window_rows) - first_row;
      for (int32_t column = 0; column < p->output_columns; ++column) {
        const int32_t x = column * p->column_stride - p->left;
        const int32_t first = lowtide_first_tap(x, p->column_dilation);
        const int32_t place = (y + first_row * p->row_dilation) * p->input_columns + x + first * p->column_dilation;
        taps.columns = lowtide_end_tap(x, p->column_dilation, p->input_columns, p->window_columns) - first;
        lowtide_depthwise_conv_2d_nhwc_f32_pixel(p, &taps, input + place * p->input_channels,
                                                 weights + (first_row * p->window_columns + first) * channels, bias,
                                                 output);
        output += channels;
      }
    }
    input += p->input_rows * p->input_columns * p->input_channels;
  }
}
