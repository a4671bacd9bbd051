// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// "blocks.pack" of lowtide::Pack, for the orders of weights_order(), and "blocks.reorder" of lowtide::Reorder, between
// plain tensors and those of other formats. Padding of the result is zero.
[[nodiscard]] Family block_reordering_family();

}  // namespace lowtide::kernels_internal
