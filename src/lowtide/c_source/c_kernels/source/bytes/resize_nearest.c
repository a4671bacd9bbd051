// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Pixels at other places. The tables have the row of the input for each row of the output, and the same for columns.
struct lowtide_resize_nearest {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t output_rows;
  int32_t output_columns;
  int32_t bytes;  // of a pixel
};

static void lowtide_resize_nearest(const struct lowtide_resize_nearest *p, const void *input, const int32_t *rows,
                                   const int32_t *columns, void *output) {
  const unsigned char *from = (const unsigned char *)input;
  unsigned char *to = (unsigned char *)output;
  for (int32_t batch = 0; batch < p->batches; ++batch) {
    for (int32_t row = 0; row < p->output_rows; ++row) {
      for (int32_t column = 0; column < p->output_columns; ++column) {
        const unsigned char *pixel = from + (rows[row] * p->input_columns + columns[column]) * p->bytes;
        for (int32_t i = 0; i < p->bytes; ++i) *to++ = pixel[i];
      }
    }
    from += p->input_rows * p->input_columns * p->bytes;
  }
}
