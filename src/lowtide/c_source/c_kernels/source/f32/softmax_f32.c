// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// in place: input

// Divides the exponentials along an axis by their sum. May work in place.
struct lowtide_softmax_f32 {
  int32_t outer;
  int32_t axis;
  int32_t inner;
};

static void lowtide_softmax_f32(const struct lowtide_softmax_f32 *p, const float *input, float *output) {
  for (int32_t outer = 0; outer < p->outer; ++outer) {
    for (int32_t inner = 0; inner < p->inner; ++inner) {
      const float *from = input + inner;
      float *to = output + inner;
      float largest = from[0];
      for (int32_t i = 1; i < p->axis; ++i) largest = from[i * p->inner] > largest ? from[i * p->inner] : largest;
      float sum = 0.0f;
      for (int32_t i = 0; i < p->axis; ++i) {
        to[i * p->inner] = expf(from[i * p->inner] - largest);
        sum += to[i * p->inner];
      }
      for (int32_t i = 0; i < p->axis; ++i) to[i * p->inner] /= sum;
    }
    input += p->axis * p->inner;
    output += p->axis * p->inner;
  }
}
