// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/plain_family.h"

namespace lowtide::kernels_internal {

// Normalizations of f64, which are as simple as their definitions. Mean and variance are found in two passes.

// BatchNormalization in inference. Why the node trains, or an empty text.
[[nodiscard]] std::string missing_wide_batch(const Node& node);
[[nodiscard]] PreparedResult prepare_wide_batch(const PrepareInput& input);
// GroupNormalization and InstanceNormalization.
[[nodiscard]] PreparedResult prepare_wide_group(const PrepareInput& input);
// LayerNormalization and RMSNormalization.
[[nodiscard]] PreparedResult prepare_wide_layer(const PrepareInput& input);

}  // namespace lowtide::kernels_internal
