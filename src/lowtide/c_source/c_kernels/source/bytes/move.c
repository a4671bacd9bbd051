// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Copies pieces of bytes between places with any distances: parts of a tensor, or its transpose. Distances and starts
// are in bytes, and may be negative.
struct lowtide_move {
  int32_t bytes;      // of a piece
  int32_t counts[5];  // pieces along each axis, each at least 1
  int32_t input_steps[5];
  int32_t output_steps[5];
  int32_t input_start;
  int32_t output_start;
};

static void lowtide_move(const struct lowtide_move *p, const void *input, void *output) {
  const unsigned char *from = (const unsigned char *)input + p->input_start;
  unsigned char *to = (unsigned char *)output + p->output_start;
  int32_t at[4] = {0, 0, 0, 0};
  for (;;) {
    if (p->bytes == 1) {
      for (int32_t i = 0; i < p->counts[4]; ++i) to[i * p->output_steps[4]] = from[i * p->input_steps[4]];
    } else {
      for (int32_t i = 0; i < p->counts[4]; ++i) {
        const unsigned char *piece = from + i * p->input_steps[4];
        unsigned char *place = to + i * p->output_steps[4];
        for (int32_t j = 0; j < p->bytes; ++j) place[j] = piece[j];
      }
    }
    int32_t axis = 3;
    while (axis >= 0 && ++at[axis] == p->counts[axis]) {
      from -= (p->counts[axis] - 1) * p->input_steps[axis];
      to -= (p->counts[axis] - 1) * p->output_steps[axis];
      at[axis--] = 0;
    }
    if (axis < 0) return;
    from += p->input_steps[axis];
    to += p->output_steps[axis];
  }
}
