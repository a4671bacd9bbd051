// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The largest or the smallest elements along some axes. The other axes are kept.
struct lowtide_reduce_extreme_i8 {
  int32_t kept_counts[3];
  int32_t kept_steps[3];  // in elements of the input
  int32_t counts[3];      // of the elements that are compared
  int32_t steps[3];
  int32_t sign;  // 1: the largest one; -1: the smallest one
};

static void lowtide_reduce_extreme_i8(const struct lowtide_reduce_extreme_i8 *p, const int8_t *input, int8_t *output) {
  for (int32_t i = 0; i < p->kept_counts[0]; ++i) {
    for (int32_t j = 0; j < p->kept_counts[1]; ++j) {
      for (int32_t k = 0; k < p->kept_counts[2]; ++k) {
        const int8_t *first = input + i * p->kept_steps[0] + j * p->kept_steps[1] + k * p->kept_steps[2];
        int32_t best = *first * p->sign;
        for (int32_t a = 0; a < p->counts[0]; ++a) {
          for (int32_t b = 0; b < p->counts[1]; ++b) {
            const int8_t *from = first + a * p->steps[0] + b * p->steps[1];
            for (int32_t c = 0; c < p->counts[2]; ++c) {
              const int32_t x = from[c * p->steps[2]] * p->sign;
              best = x > best ? x : best;
            }
          }
        }
        *output++ = (int8_t)(best * p->sign);
      }
    }
  }
}
