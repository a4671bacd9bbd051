// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Copies bytes. The two ranges are equal or do not overlap.
struct lowtide_copy {
  int32_t bytes;
};

static void lowtide_copy(const struct lowtide_copy *p, const void *input, void *output) {
  const unsigned char *from = (const unsigned char *)input;
  unsigned char *to = (unsigned char *)output;
  for (int32_t i = 0; i < p->bytes; ++i) to[i] = from[i];
}
