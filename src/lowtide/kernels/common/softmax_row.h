// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide::kernels_internal {

// y[i] = e^(x[i] - m) / (the sum of all e^(x[j] - m)), where m is the largest element, so that nothing overflows. A
// result below the smallest normal number is 0: a processor needs a hundred times longer for smaller numbers, and the
// masked scores of an attention would be such. Elements that are all -infinity, and any NaN, give NaN. The bits are the
// same on every processor. `y` may be `x`. Requires: count > 0.
void softmax_row(const float* x, float* y, std::int64_t count);

}  // namespace lowtide::kernels_internal
