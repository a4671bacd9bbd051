// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Attention, of f32, f16 and bf16. It computes one query at a time, so its scratch is one row of scores, and the matrix
// of all scores never exists unless it is a result.
[[nodiscard]] Family attention_family();

// lowtide::Attention (common/fused_attention.h), in the same way.
[[nodiscard]] Family fused_attention_family();

}  // namespace lowtide::kernels_internal
