// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The sum of weights[i] * (input[i] + offset). Factors have 16 bits, and blocks a fixed length, because processors
// have instructions for these. A sum of more than 65536 products may have no 32 bits, so count is at most that.
static int32_t lowtide_dot_i8(const int8_t *weights, const int8_t *input, int32_t count, int32_t offset) {
  int32_t sum = 0;
  for (; count >= 16; count -= 16) {
    for (int32_t i = 0; i < 16; ++i) sum += weights[i] * (int16_t)(input[i] + offset);
    weights += 16;
    input += 16;
  }
  if (count >= 8) {
    for (int32_t i = 0; i < 8; ++i) sum += weights[i] * (int16_t)(input[i] + offset);
    weights += 8;
    input += 8;
    count -= 8;
  }
  for (int32_t i = 0; i < count; ++i) sum += weights[i] * (int16_t)(input[i] + offset);
  return sum;
}
