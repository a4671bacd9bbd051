// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// lowtide::Chain (graph/chain.h). It computes blocks of a few hundred elements, one node of its program after another,
// with the functions of the families of elementwise.h. So the results have the bits of the separate kernels.
[[nodiscard]] Family chain_family();

}  // namespace lowtide::kernels_internal
