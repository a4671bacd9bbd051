// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// DFT of f32, f16 and bf16, and the windows of Blackman, Hamming and Hann. A DFT takes n * n operations per line.
[[nodiscard]] Family signal_family();

}  // namespace lowtide::kernels_internal
