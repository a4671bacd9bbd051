// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add

// Adds the sums of weights[i] * (input[i] + offset) to `sums`, for four rows of weights that are `stride` apart. Each
// element of the input is read and shifted once for all of them. As for dot_i8, blocks have a fixed length, and count
// is at most 65536.
static void lowtide_dot_4_i8(const int8_t *weights, int32_t stride, const int8_t *input, int32_t count, int32_t offset,
                             int32_t *sums) {
  const int8_t *second = weights + stride;
  const int8_t *third = second + stride;
  const int8_t *fourth = third + stride;
  int32_t a = 0;
  int32_t b = 0;
  int32_t c = 0;
  int32_t d = 0;
  for (; count >= 16; count -= 16) {
    for (int32_t i = 0; i < 16; ++i) {
      const int16_t x = (int16_t)(input[i] + offset);
      a += weights[i] * x;
      b += second[i] * x;
      c += third[i] * x;
      d += fourth[i] * x;
    }
    weights += 16;
    second += 16;
    third += 16;
    fourth += 16;
    input += 16;
  }
  if (count >= 8) {
    for (int32_t i = 0; i < 8; ++i) {
      const int16_t x = (int16_t)(input[i] + offset);
      a += weights[i] * x;
      b += second[i] * x;
      c += third[i] * x;
      d += fourth[i] * x;
    }
    weights += 8;
    second += 8;
    third += 8;
    fourth += 8;
    input += 8;
    count -= 8;
  }
  for (int32_t i = 0; i < count; ++i) {
    const int32_t x = input[i] + offset;
    a += weights[i] * x;
    b += second[i] * x;
    c += third[i] * x;
    d += fourth[i] * x;
  }
  sums[0] = lowtide_add(sums[0], a);
  sums[1] = lowtide_add(sums[1], b);
  sums[2] = lowtide_add(sums[2], c);
  sums[3] = lowtide_add(sums[3], d);
}
