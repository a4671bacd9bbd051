// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Writes one element `count` times.
struct lowtide_fill {
  int32_t bytes;  // of the element
  int32_t count;
};

static void lowtide_fill(const struct lowtide_fill *p, const void *element, void *output) {
  const unsigned char *from = (const unsigned char *)element;
  unsigned char *to = (unsigned char *)output;
  for (int32_t i = 0; i < p->count; ++i) {
    for (int32_t j = 0; j < p->bytes; ++j) *to++ = from[j];
  }
}
