// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Runs a product with an epilogue (graph/epilogue.h) as two kernels: the product writes its result, and a chain
// overwrites it. So every lowered graph runs where the product and the chain do, and the results are those of both, to
// the bit. The kernel has the name of the product's kernel that needs least, with "+chain" unless that is "plain".
[[nodiscard]] Family separate_family();

}  // namespace lowtide::kernels_internal
