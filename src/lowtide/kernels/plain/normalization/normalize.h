// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Normalizations by mean and variance, or by a root mean square: BatchNormalization (inference and training, and
// inference on blocks of channels),
// GroupNormalization, InstanceNormalization, LayerNormalization, RMSNormalization. Sums are f64; f16 is computed in
// f32. The result may overwrite the first operand.
[[nodiscard]] Family normalize_family();
// Other divisions by a statistic: LRN, LpNormalization, MeanVarianceNormalization. All but LRN may overwrite their
// operand.
[[nodiscard]] Family norm_family();

}  // namespace lowtide::kernels_internal
