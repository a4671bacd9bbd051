// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// null: filler

// Copies pieces of bytes. Along each axis, a table gives the distance of each piece in the input, in bytes. The tables
// lie one after another. Where a distance is negative, the piece is the filler.
struct lowtide_pick {
  int32_t bytes;  // of a piece
  int32_t counts[4];
};

static void lowtide_pick(const struct lowtide_pick *p, const void *input, const int32_t *tables, const void *filler,
                         void *output) {
  const unsigned char *from = (const unsigned char *)input;
  unsigned char *to = (unsigned char *)output;
  const int32_t *second = tables + p->counts[0];
  const int32_t *third = second + p->counts[1];
  const int32_t *fourth = third + p->counts[2];
  for (int32_t i = 0; i < p->counts[0]; ++i) {
    for (int32_t j = 0; j < p->counts[1]; ++j) {
      for (int32_t k = 0; k < p->counts[2]; ++k) {
        const int32_t outside = tables[i] < 0 || second[j] < 0 || third[k] < 0;
        const int32_t start = tables[i] + second[j] + third[k];
        for (int32_t l = 0; l < p->counts[3]; ++l) {
          const unsigned char *piece = (const unsigned char *)filler;
          if (!outside && fourth[l] >= 0) piece = from + (start + fourth[l]);
          for (int32_t at = 0; at < p->bytes; ++at) to[at] = piece[at];
          to += p->bytes;
        }
      }
    }
  }
}
