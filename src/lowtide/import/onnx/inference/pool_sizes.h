// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/import/onnx/inference/sized_node.h"

namespace lowtide::import_internal {

// The rule of apply_size_rules for AveragePool, LpPool and MaxPool with ceil_mode. A last window that would begin in
// the padding at the end is left out:
//
//   5 elements, pads [1, 2], windows of 3 with stride 2: they begin at -1, 1, 3 and, rounded up, 5. Element 5 is
//   padding, so there are 3 results and not 4.
//
// The specification says so since opset 22, and so does the library. Runtimes do it for all opsets. If the rule changes
// an extent, the result is marked as `is_resized`. Without ceil_mode, the library's extents are those of runtimes.
void size_pool(const Sized& sized);

}  // namespace lowtide::import_internal
