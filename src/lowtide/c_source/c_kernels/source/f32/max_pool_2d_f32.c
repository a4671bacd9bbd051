// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The maximum of each window over two axes.
struct lowtide_max_pool_2d_f32 {
  int32_t planes;
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

static float lowtide_max_pool_2d_f32_window(const struct lowtide_max_pool_2d_f32 *p, const float *input, int32_t row,
                                            int32_t column) {
  float largest = 0.0f;
  int32_t count = 0;
  for (int32_t ky = 0; ky < p->window_rows; ++ky) {
    const int32_t y = row + ky * p->row_dilation;
    if (y < 0 || y >= p->input_rows) continue;
    for (int32_t kx = 0; kx < p->window_columns; ++kx) {
      const int32_t x = column + kx * p->column_dilation;
      if (x < 0 || x >= p->input_columns) continue;
      const float value = input[y * p->input_columns + x];
      largest = count == 0 || value > largest ? value : largest;
      ++count;
    }
  }
  return largest;
}

static void lowtide_max_pool_2d_f32(const struct lowtide_max_pool_2d_f32 *p, const float *input, float *output) {
  for (int32_t plane = 0; plane < p->planes; ++plane) {
    for (int32_t y = 0; y < p->output_rows; ++y) {
      for (int32_t x = 0; x < p->output_columns; ++x) {
        output[x] =
            lowtide_max_pool_2d_f32_window(p, input, y * p->row_stride - p->top, x * p->column_stride - p->left);
      }
      output += p->output_columns;
    }
    input += p->input_rows * p->input_columns;
  }
}
