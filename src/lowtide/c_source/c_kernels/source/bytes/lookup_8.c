// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// in place: input

// The entry of a table for each element. Elements have 8 bits, and are taken as numbers from 0 to 255.
struct lowtide_lookup_8 {
  int32_t count;
};

static void lowtide_lookup_8(const struct lowtide_lookup_8 *p, const void *input, const void *table, void *output) {
  const unsigned char *from = (const unsigned char *)input;
  const unsigned char *entries = (const unsigned char *)table;
  unsigned char *to = (unsigned char *)output;
  for (int32_t i = 0; i < p->count; ++i) to[i] = entries[from[i]];
}
