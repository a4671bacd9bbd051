// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// One more than the last tap of a window that is before the end of the input.
static int32_t lowtide_end_tap(int32_t origin, int32_t step, int32_t extent, int32_t taps) {
  const int32_t end = extent <= origin ? 0 : (extent - origin + step - 1) / step;
  return end < taps ? end : taps;
}
