// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// null: bias

// A convolution over two axes, in groups. A convolution over one axis has a height of 1. The products of eight columns
// and up to four output channels are summed at the same time. The output holds the sums of the taps so far, so that the
// stack does not.
struct lowtide_conv_2d_f32 {
  int32_t batches;
  int32_t groups;
  int32_t input_channels;   // of a group
  int32_t output_channels;  // of a group
  int32_t input_rows;
  int32_t input_columns;
  int32_t output_rows;
  int32_t output_columns;
  int32_t window_rows;
  int32_t window_columns;
  int32_t row_stride;
  int32_t column_stride;
  int32_t row_dilation;
  int32_t column_dilation;
  int32_t top;
  int32_t left;
  int32_t limits;  // 1: results are at least `minimum`; 2: and at most `maximum`
  float minimum;
  float maximum;
};

enum { LOWTIDE_CONV_2D_F32_COLUMNS = 8, LOWTIDE_CONV_2D_F32_CHANNELS = 4 };

// Eight columns of four channels. Input columns lie next to each other. A compiler that unrolls the loop over columns
// would make no vectors of it.
static void lowtide_conv_2d_f32_block(const struct lowtide_conv_2d_f32 *p, const float *input, const float *weights,
                                      float *output) {
  const int32_t plane = p->input_rows * p->input_columns;
  const int32_t output_plane = p->output_rows * p->output_columns;
  const int32_t window = p->window_rows * p->window_columns;
  const int32_t filter = p->input_channels * window;
  float total[LOWTIDE_CONV_2D_F32_CHANNELS][LOWTIDE_CONV_2D_F32_COLUMNS];
  for (int32_t i = 0; i < LOWTIDE_CONV_2D_F32_COLUMNS; ++i) {
    total[0][i] = 0.0f;
    total[1][i] = 0.0f;
    total[2][i] = 0.0f;
    total[3][i] = 0.0f;
  }
  for (int32_t channel = 0; channel < p->input_channels; ++channel) {
    const float *x = input + channel * plane;
    const float w0 = weights[channel * window];
    const float w1 = weights[channel * window + filter];
    const float w2 = weights[channel * window + 2 * filter];
    const float w3 = weights[channel * window + 3 * filter];
#pragma GCC unroll 1
    for (int32_t i = 0; i < LOWTIDE_CONV_2D_F32_COLUMNS; ++i) {
      total[0][i] += w0 * x[i];
      total[1][i] += w1 * x[i];
      total[2][i] += w2 * x[i];
      total[3][i] += w3 * x[i];
    }
  }
  for (int32_t i = 0; i < LOWTIDE_CONV_2D_F32_COLUMNS; ++i) {
    output[i] += total[0][i];
    output[output_plane + i] += total[1][i];
    output[2 * output_plane + i] += total[2][i];
    output[3 * output_plane + i] += total[3][i];
  }
}

// `columns` columns of one channel.
static void lowtide_conv_2d_f32_line(const struct lowtide_conv_2d_f32 *p, const float *input, const float *weights,
                                     int32_t columns, float *output) {
  const int32_t plane = p->input_rows * p->input_columns;
  const int32_t window = p->window_rows * p->window_columns;
  for (int32_t channel = 0; channel < p->input_channels; ++channel) {
    const float *x = input + channel * plane;
    const float weight = weights[channel * window];
    if (p->column_stride == 1 && columns == LOWTIDE_CONV_2D_F32_COLUMNS) {
      for (int32_t i = 0; i < LOWTIDE_CONV_2D_F32_COLUMNS; ++i) output[i] += weight * x[i];
    } else {
      for (int32_t i = 0; i < columns; ++i) output[i] += weight * x[i * p->column_stride];
    }
  }
}

// Adds the products of all taps of the window. `row` and `column` are the place of its first tap in the input.
static void lowtide_conv_2d_f32_window(const struct lowtide_conv_2d_f32 *p, const float *input, const float *weights,
                                       int32_t row, int32_t column, int32_t columns, int32_t channels,
                                       float *output) {
  const int32_t filter = p->input_channels * p->window_rows * p->window_columns;
  const int32_t output_plane = p->output_rows * p->output_columns;
  for (int32_t ky = 0; ky < p->window_rows; ++ky) {
    const int32_t y = row + ky * p->row_dilation;
    if (y < 0 || y >= p->input_rows) continue;
    for (int32_t kx = 0; kx < p->window_columns; ++kx) {
      const int32_t x = column + kx * p->column_dilation;
      const int32_t begin = x >= 0 ? 0 : (-x + p->column_stride - 1) / p->column_stride;
      const int32_t last = x + (columns - 1) * p->column_stride;
      const int32_t end =
          last < p->input_columns ? columns : (p->input_columns - x + p->column_stride - 1) / p->column_stride;
      if (begin >= end) continue;
      const float *from = input + y * p->input_columns + x + begin * p->column_stride;
      const float *taps = weights + ky * p->window_columns + kx;
      if (end - begin == LOWTIDE_CONV_2D_F32_COLUMNS && channels == LOWTIDE_CONV_2D_F32_CHANNELS &&
          p->column_stride == 1) {
        lowtide_conv_2d_f32_block(p, from, taps, output);
        continue;
      }
      for (int32_t channel = 0; channel < channels; ++channel) {
        lowtide_conv_2d_f32_line(p, from, taps + channel * filter, end - begin,
                                 output + channel * output_plane + begin);
      }
    }
  }
}

static void lowtide_conv_2d_f32_limit(const struct lowtide_conv_2d_f32 *p, int32_t columns, float *output) {
  if (p->limits == 0) return;
  for (int32_t i = 0; i < columns; ++i) {
    float sum = output[i];
    sum = sum < p->minimum ? p->minimum : sum;
    if (p->limits > 1) sum = sum > p->maximum ? p->maximum : sum;
    output[i] = sum;
  }
}

// Adds a part of an input row, times a weight, to an output row.
static void lowtide_conv_2d_f32_add(float weight, const float *restrict input, int32_t stride, int32_t columns,
                                    float *restrict output) {
  int32_t i = 0;
  if (stride == 1) {
    for (; i + LOWTIDE_CONV_2D_F32_COLUMNS <= columns; i += LOWTIDE_CONV_2D_F32_COLUMNS) {
      for (int32_t j = 0; j < LOWTIDE_CONV_2D_F32_COLUMNS; ++j) output[i + j] += weight * input[i + j];
    }
  }
  for (; i < columns; ++i) output[i] += weight * input[i * stride];
}

// One output channel of a group with one input channel.
static void lowtide_conv_2d_f32_single(const struct lowtide_conv_2d_f32 *p, const float *input, const float *weights,
                                       float bias, float *output) {
  for (int32_t y = 0; y < p->output_rows; ++y) {
    for (int32_t x = 0; x < p->output_columns; ++x) output[x] = bias;
    for (int32_t ky = 0; ky < p->window_rows; ++ky) {
      const int32_t row = y * p->row_stride - p->top + ky * p->row_dilation;
      if (row < 0 || row >= p->input_rows) continue;
      for (int32_t kx = 0; kx < p->window_columns; ++kx) {
        const int32_t x = kx * p->column_dilation - p->left;
        const int32_t begin = x >= 0 ? 0 : (-x + p->column_stride - 1) / p->column_stride;
        const int32_t last = x + (p->output_columns - 1) * p->column_stride;
        const int32_t end = last < p->input_columns
                                ? p->output_columns
                                : (p->input_columns - x + p->column_stride - 1) / p->column_stride;
        if (begin >= end) continue;
        lowtide_conv_2d_f32_add(weights[ky * p->window_columns + kx],
                                input + row * p->input_columns + x + begin * p->column_stride, p->column_stride,
                                end - begin, output + begin);
      }
    }
    lowtide_conv_2d_f32_limit(p, p->output_columns, output);
    output += p->output_columns;
  }
}

// The rows of one plane of each of `channels` output channels.
static void lowtide_conv_2d_f32_planes(const struct lowtide_conv_2d_f32 *p, const float *input, const float *weights,
                                       const float *bias, int32_t channels, float *output) {
  const int32_t plane = p->output_rows * p->output_columns;
  for (int32_t y = 0; y < p->output_rows; ++y) {
    for (int32_t next = 0; next < p->output_columns; next += LOWTIDE_CONV_2D_F32_COLUMNS) {
      // The last columns are computed with those before them, even if these are computed again.
      const int32_t last = p->output_columns - LOWTIDE_CONV_2D_F32_COLUMNS;
      const int32_t x = last >= 0 && next > last ? last : next;
      const int32_t columns = last >= 0 ? LOWTIDE_CONV_2D_F32_COLUMNS : p->output_columns;
      float *to = output + y * p->output_columns + x;
      for (int32_t channel = 0; channel < channels; ++channel) {
        for (int32_t i = 0; i < columns; ++i) to[channel * plane + i] = bias != 0 ? bias[channel] : 0.0f;
      }
      lowtide_conv_2d_f32_window(p, input, weights, y * p->row_stride - p->top, x * p->column_stride - p->left, columns,
                                 channels, to);
      for (int32_t channel = 0; channel < channels; ++channel) {
        lowtide_conv_2d_f32_limit(p, columns, to + channel * plane);
      }
    }
  }
}

static void lowtide_conv_2d_f32(const struct lowtide_conv_2d_f32 *p, const float *input, const float *weights,
                                const float *bias, float *output) {
  const int32_t filter = p->input_channels * p->window_rows * p->window_columns;
  const int32_t input_group = p->input_channels * p->input_rows * p->input_columns;
  const int32_t output_plane = p->output_rows * p->output_columns;
  for (int32_t image = 0; image < p->batches; ++image) {
    for (int32_t group = 0; group < p->groups; ++group) {
      const float *from = input + (image * p->groups + group) * input_group;
      for (int32_t channel = 0; channel < p->output_channels;) {
        const int32_t left = p->output_channels - channel;
        const int32_t channels = left < LOWTIDE_CONV_2D_F32_CHANNELS ? left : LOWTIDE_CONV_2D_F32_CHANNELS;
        const int32_t first = group * p->output_channels + channel;
        float *to = output + (image * p->groups * p->output_channels + first) * output_plane;
        if (p->input_channels == 1) {
          lowtide_conv_2d_f32_single(p, from, weights + first * filter, bias != 0 ? bias[first] : 0.0f, to);
          ++channel;
        } else {
          lowtide_conv_2d_f32_planes(p, from, weights + first * filter, bias != 0 ? bias + first : bias, channels, to);
          channel += channels;
        }
      }
    }
  }
}
