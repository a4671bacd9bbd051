// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// GRU, LSTM and RNN of f32, f16 and bf16: all directions, layouts, activations, peepholes and sequence lengths. Scratch
// has 4 * (gates + 3) * hidden bytes for the state of each sequence that is computed at the same time, at most 16 on
// each thread, and 4 * gates * hidden bytes for each input that is multiplied at once.
[[nodiscard]] Family recurrent_family();

}  // namespace lowtide::kernels_internal
