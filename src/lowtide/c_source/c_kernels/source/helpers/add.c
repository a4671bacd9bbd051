// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// a + b, without the bits that 32 bits do not hold: sums of hostile constants wrap around, and are not undefined.
static int32_t lowtide_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
