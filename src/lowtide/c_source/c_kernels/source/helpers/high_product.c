// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// a * b / 2^31, rounded to the nearest integer.
static int32_t lowtide_high_product(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31); }
