// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Interpolates linearly over two axes. For output row y, rows[y] and rows[output_rows + y] are the input rows, and
// row_weights[y] is the share of the second one. Columns have the same tables.
struct lowtide_resize_2d_f32 {
  int32_t planes;
  int32_t input_rows;
  int32_t input_columns;
  int32_t output_rows;
  int32_t output_columns;
};

static void lowtide_resize_2d_f32(const struct lowtide_resize_2d_f32 *p, const float *input, const int32_t *rows,
                                  const float *row_weights, const int32_t *columns, const float *column_weights,
                                  float *output) {
  for (int32_t plane = 0; plane < p->planes; ++plane) {
    for (int32_t y = 0; y < p->output_rows; ++y) {
      const float *top = input + rows[y] * p->input_columns;
      const float *bottom = input + rows[p->output_rows + y] * p->input_columns;
      const float low = row_weights[y];
      for (int32_t x = 0; x < p->output_columns; ++x) {
        const int32_t left = columns[x];
        const int32_t right = columns[p->output_columns + x];
        const float share = column_weights[x];
        const float above = top[left] * (1.0f - share) + top[right] * share;
        const float below = bottom[left] * (1.0f - share) + bottom[right] * share;
        output[x] = above * (1.0f - low) + below * low;
      }
      output += p->output_columns;
    }
    input += p->input_rows * p->input_columns;
  }
}
