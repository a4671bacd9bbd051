// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// null: bias

// A transposed convolution over two axes, in groups. The weights are [input channels, output channels of a group,
// height, width]. The output holds the sums while they grow.
struct lowtide_conv_transpose_2d_f32 {
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
};

// Adds a row of the input, times the taps of a row of the window, to a row of the output.
static void lowtide_conv_transpose_2d_f32_row(const struct lowtide_conv_transpose_2d_f32 *p, const float *input,
                                              const float *weights, float *output) {
  for (int32_t kx = 0; kx < p->window_columns; ++kx) {
    const float weight = weights[kx];
    const int32_t x = kx * p->column_dilation - p->left;  // of the product of input column 0
    const int32_t begin = x >= 0 ? 0 : (-x + p->column_stride - 1) / p->column_stride;
    const int32_t last = x + (p->input_columns - 1) * p->column_stride;
    const int32_t end =
        last < p->output_columns ? p->input_columns : (p->output_columns - x + p->column_stride - 1) / p->column_stride;
    if (p->column_stride == 1) {
      for (int32_t i = begin; i < end; ++i) output[x + i] += weight * input[i];
    } else {
      for (int32_t i = begin; i < end; ++i) output[x + i * p->column_stride] += weight * input[i];
    }
  }
}

static void lowtide_conv_transpose_2d_f32_plane(const struct lowtide_conv_transpose_2d_f32 *p, const float *input,
                                                const float *weights, float *output) {
  for (int32_t row = 0; row < p->input_rows; ++row) {
    for (int32_t ky = 0; ky < p->window_rows; ++ky) {
      const int32_t y = row * p->row_stride + ky * p->row_dilation - p->top;
      if (y < 0 || y >= p->output_rows) continue;
      lowtide_conv_transpose_2d_f32_row(p, input + row * p->input_columns, weights + ky * p->window_columns,
                                        output + y * p->output_columns);
    }
  }
}

static void lowtide_conv_transpose_2d_f32(const struct lowtide_conv_transpose_2d_f32 *p, const float *input,
                                          const float *weights, const float *bias, float *output) {
  const int32_t window = p->window_rows * p->window_columns;
  const int32_t input_plane = p->input_rows * p->input_columns;
  const int32_t output_plane = p->output_rows * p->output_columns;
  for (int32_t image = 0; image < p->batches; ++image) {
    for (int32_t group = 0; group < p->groups; ++group) {
      const int32_t first = group * p->input_channels;
      const float *from = input + (image * p->groups * p->input_channels + first) * input_plane;
      for (int32_t channel = 0; channel < p->output_channels; ++channel) {
        const float start = bias != 0 ? bias[group * p->output_channels + channel] : 0.0f;
        for (int32_t i = 0; i < output_plane; ++i) output[i] = start;
        for (int32_t other = 0; other < p->input_channels; ++other) {
          lowtide_conv_transpose_2d_f32_plane(p, from + other * input_plane,
                                              weights + ((first + other) * p->output_channels + channel) * window,
                                              output);
        }
        output += output_plane;
      }
    }
  }
}
