// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The first tap of a window inside of the input. The taps are at origin, origin + step, ...
static int32_t lowtide_first_tap(int32_t origin, int32_t step) { return origin >= 0 ? 0 : (step - 1 - origin) / step; }
