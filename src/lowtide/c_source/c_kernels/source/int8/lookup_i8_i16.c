// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The entry of a table for each element. The first entry is for -128.
struct lowtide_lookup_i8_i16 {
  int32_t count;
};

static void lowtide_lookup_i8_i16(const struct lowtide_lookup_i8_i16 *p, const int8_t *input, const int16_t *table,
                                  int16_t *output) {
  for (int32_t i = 0; i < p->count; ++i) output[i] = table[input[i] + 128];
}
