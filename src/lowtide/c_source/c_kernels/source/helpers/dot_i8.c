// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The sum of weights[i] * (input[i] + offset).
static int32_t lowtide_dot_i8(const int8_t *weights, const int8_t *input, int32_t count, int32_t offset) {
  int32_t sum = 0;
  for (int32_t i = 0; i < count; ++i) sum += weights[i] * (input[i] + offset);
  return sum;
}
