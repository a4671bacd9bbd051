// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The number in [low, high] that is nearest to x.
static int32_t lowtide_clamp(int32_t x, int32_t low, int32_t high) { return x < low ? low : x > high ? high : x; }
