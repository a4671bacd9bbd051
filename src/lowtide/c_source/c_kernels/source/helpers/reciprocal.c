// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: high_product

// 1 / x as a number below 1 with 31 bits behind the point, for an x in [1, 2) that is given as (x - 1) * 2^31.
// It is the result of three of Newton's steps, as in TFLite's reference kernels.
static int32_t lowtide_reciprocal(int32_t x) {
  const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);  // x / 2
  // Numbers here have 29 bits behind the point. The first guess is 48/17 - 32/17 * x/2.
  int32_t guess = 1515870810 + lowtide_high_product(half, -1010580540);
  for (int32_t step = 0; step < 3; ++step) {
    const int32_t rest = (1 << 29) - lowtide_high_product(half, guess);
    guess += (int32_t)((uint32_t)lowtide_high_product(guess, rest) << 2);
  }
  const int64_t result = (int64_t)guess * 2;
  return result > INT32_MAX ? INT32_MAX : (int32_t)result;
}
