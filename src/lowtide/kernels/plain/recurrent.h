// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// GRU, LSTM and RNN of f32 and f16: all directions, layouts, activations, peepholes and sequence lengths. Sequences run
// one after another, so scratch has the state and the gates of one of them: 4 * (gates + 3) * hidden bytes.
[[nodiscard]] Family recurrent_family();

}  // namespace lowtide::kernels_internal
