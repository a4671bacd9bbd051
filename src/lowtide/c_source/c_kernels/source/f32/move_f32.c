// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Copies elements between places with any distances: parts of a tensor, or its transpose. Steps and starts are in
// elements, and may be negative.
struct lowtide_move_f32 {
  int32_t counts[5];  // elements along each axis, each at least 1
  int32_t input_steps[5];
  int32_t output_steps[5];
  int32_t input_start;
  int32_t output_start;
};

static void lowtide_move_f32_row(const struct lowtide_move_f32 *p, const float *input, float *output) {
  const int32_t from = p->input_steps[4];
  const int32_t to = p->output_steps[4];
  if (from == 1 && to == 1) {
    for (int32_t i = 0; i < p->counts[4]; ++i) output[i] = input[i];
  } else {
    for (int32_t i = 0; i < p->counts[4]; ++i) output[i * to] = input[i * from];
  }
}

static void lowtide_move_f32(const struct lowtide_move_f32 *p, const float *input, float *output) {
  for (int32_t i = 0; i < p->counts[0]; ++i) {
    for (int32_t j = 0; j < p->counts[1]; ++j) {
      for (int32_t k = 0; k < p->counts[2]; ++k) {
        const float *from =
            input + p->input_start + i * p->input_steps[0] + j * p->input_steps[1] + k * p->input_steps[2];
        float *to = output + p->output_start + i * p->output_steps[0] + j * p->output_steps[1] + k * p->output_steps[2];
        for (int32_t l = 0; l < p->counts[3]; ++l) {
          lowtide_move_f32_row(p, from + l * p->input_steps[3], to + l * p->output_steps[3]);
        }
      }
    }
  }
}
