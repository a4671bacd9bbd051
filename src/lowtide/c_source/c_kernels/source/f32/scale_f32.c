// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// in place: input

// Multiplies each channel by a factor and adds a number to it, as a BatchNormalization does. May work in place.
struct lowtide_scale_f32 {
  int32_t batches;
  int32_t channels;
  int32_t plane;  // elements of a channel
};

static void lowtide_scale_f32(const struct lowtide_scale_f32 *p, const float *input, const float *factors,
                              const float *addends, float *output) {
  for (int32_t image = 0; image < p->batches; ++image) {
    for (int32_t channel = 0; channel < p->channels; ++channel) {
      const float factor = factors[channel];
      const float addend = addends[channel];
      for (int32_t i = 0; i < p->plane; ++i) output[i] = input[i] * factor + addend;
      input += p->plane;
      output += p->plane;
    }
  }
}
