// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: shift_right reciprocal

// The reciprocal of the sum of a row's exponentials, with 31 bits behind the point. Sets *highest to the largest
// element, and *shift to the number of bits by which a product with the reciprocal is too large.
static int32_t lowtide_softmax_row(const int8_t *input, int32_t depth, const int32_t *table, int32_t *highest,
                                   int32_t *shift) {
  *highest = INT8_MIN;
  for (int32_t i = 0; i < depth; ++i) *highest = input[i] > *highest ? input[i] : *highest;
  uint32_t sum = 0;  // 13 bits before the point, and 19 behind it
  for (int32_t i = 0; i < depth; ++i) sum += (uint32_t)lowtide_shift_right(table[*highest - input[i]], 12);
  int32_t zeros = 0;  // in front of the sum in binary form
  while (sum < 0x80000000u) {
    sum <<= 1;
    ++zeros;
  }
  *shift = 12 - zeros + 31;
  return lowtide_reciprocal((int32_t)(sum - 0x80000000u));
}
