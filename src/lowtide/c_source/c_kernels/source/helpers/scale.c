// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// uses: high_product shift_right

// x * multiplier * 2^(shift - 31), rounded as TFLite's reference kernels do it, in two steps.
static int32_t lowtide_scale(int32_t x, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t raised = (int32_t)((uint32_t)x << left);
  return lowtide_shift_right(lowtide_high_product(raised, multiplier), left - shift);
}
