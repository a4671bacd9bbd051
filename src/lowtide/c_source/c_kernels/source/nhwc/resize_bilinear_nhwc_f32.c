// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Interpolates linearly over the rows and columns of images whose channels lie next to each other. For output row y,
// rows[y] and rows[output_rows + y] are the input rows, and row_weights[y] is the share of the second one. Columns have
// the same tables.
struct lowtide_resize_bilinear_nhwc_f32 {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t channels;
  int32_t output_rows;
  int32_t output_columns;
};

// A loop over four elements becomes one vector instruction.
static void lowtide_resize_bilinear_nhwc_f32_pixel(int32_t channels, const float *const *corners, const float *shares,
                                                   float *restrict output) {
  const float *restrict a = corners[0];
  const float *restrict b = corners[1];
  const float *restrict c = corners[2];
  const float *restrict d = corners[3];
  int32_t i = 0;
  for (; i + 4 <= channels; i += 4) {
#pragma GCC unroll 1
    for (int32_t j = i; j < i + 4; ++j) {
      output[j] = a[j] * shares[0] + b[j] * shares[1] + c[j] * shares[2] + d[j] * shares[3];
    }
  }
  for (; i < channels; ++i) output[i] = a[i] * shares[0] + b[i] * shares[1] + c[i] * shares[2] + d[i] * shares[3];
}

static void lowtide_resize_bilinear_nhwc_f32(const struct lowtide_resize_bilinear_nhwc_f32 *p, const float *input,
                                             const int32_t *rows, const float *row_weights, const int32_t *columns,
                                             const float *column_weights, float *output) {
  const int32_t row_step = p->input_columns * p->channels;
  const float *corners[4];
  float shares[4];
  for (int32_t image = 0; image < p->batches; ++image) {
    for (int32_t y = 0; y < p->output_rows; ++y) {
      const float *top = input + rows[y] * row_step;
      const float *bottom = input + rows[p->output_rows + y] * row_step;
      const float low = row_weights[y];
      for (int32_t x = 0; x < p->output_columns; ++x) {
        const int32_t left = columns[x] * p->channels;
        const int32_t right = columns[p->output_columns + x] * p->channels;
        const float share = column_weights[x];
        corners[0] = top + left;
        corners[1] = top + right;
        corners[2] = bottom + left;
        corners[3] = bottom + right;
        shares[0] = (1.0f - low) * (1.0f - share);
        shares[1] = (1.0f - low) * share;
        shares[2] = low * (1.0f - share);
        shares[3] = low * share;
        lowtide_resize_bilinear_nhwc_f32_pixel(p->channels, corners, shares, output);
        output += p->channels;
      }
    }
    input += p->input_rows * row_step;
  }
}
