// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: add clamp scale

// Sums along some axes, times a factor: sums and means. The other axes are kept.
struct lowtide_sum_i8 {
  int32_t kept_counts[3];
  int32_t kept_steps[3];  // in elements of the input
  int32_t counts[3];      // of the elements that are summed
  int32_t steps[3];
  int32_t zero_points;  // those of the elements of one sum, added
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
};

static void lowtide_sum_i8(const struct lowtide_sum_i8 *p, const int8_t *input, int8_t *output) {
  for (int32_t i = 0; i < p->kept_counts[0]; ++i) {
    for (int32_t j = 0; j < p->kept_counts[1]; ++j) {
      for (int32_t k = 0; k < p->kept_counts[2]; ++k) {
        int32_t sum = -p->zero_points;
        for (int32_t a = 0; a < p->counts[0]; ++a) {
          for (int32_t b = 0; b < p->counts[1]; ++b) {
            const int8_t *from = input + i * p->kept_steps[0] + j * p->kept_steps[1] + k * p->kept_steps[2] +
                                 a * p->steps[0] + b * p->steps[1];
            for (int32_t c = 0; c < p->counts[2]; ++c) sum += from[c * p->steps[2]];
          }
        }
        sum = lowtide_add(lowtide_scale(sum, p->multiplier, p->shift), p->output_zero_point);
        *output++ = (int8_t)lowtide_clamp(sum, INT8_MIN, INT8_MAX);
      }
    }
  }
}
