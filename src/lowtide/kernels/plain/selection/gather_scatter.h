// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Operators that read or write at places that indices name: Gather, GatherElements, GatherND, ScatterElements
// and ScatterND, of any type of whole bytes (reductions: of numbers), with indices of i64 or i32. Each index is checked
// before it is used.
[[nodiscard]] Family gather_scatter_family();
// Operators that choose elements by their values: ArgMax, ArgMin, Compress, NonZero.
[[nodiscard]] Family choose_by_value_family();

}  // namespace lowtide::kernels_internal
