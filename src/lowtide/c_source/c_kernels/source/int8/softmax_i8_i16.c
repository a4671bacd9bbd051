// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: high_product shift_right clamp softmax_row

// The exponentials of each row, divided by their sum. Entry d of the table is the exponential of a number that is d
// below the largest one of its row, with 31 bits behind the point.
struct lowtide_softmax_i8_i16 {
  int32_t rows;
  int32_t depth;
};

static void lowtide_softmax_i8_i16(const struct lowtide_softmax_i8_i16 *p, const int8_t *input, const int32_t *table,
                                   int16_t *output) {
  for (int32_t row = 0; row < p->rows; ++row) {
    int32_t highest = 0;
    int32_t shift = 0;
    const int32_t scale = lowtide_softmax_row(input, p->depth, table, &highest, &shift);
    for (int32_t i = 0; i < p->depth; ++i) {
      const int32_t part = lowtide_shift_right(lowtide_high_product(scale, table[highest - input[i]]), shift - 16);
      output[i] = (int16_t)lowtide_clamp(part + INT16_MIN, INT16_MIN, INT16_MAX);
    }
    input += p->depth;
    output += p->depth;
  }
}
