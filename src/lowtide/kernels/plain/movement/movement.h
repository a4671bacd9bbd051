// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Operators that move elements without computing, of any type of whole bytes.

// The result has the bytes of the operand: Reshape, Squeeze, Unsqueeze, Flatten, Identity, Dropout in inference. A plan
// mostly makes it a view of the operand, and then no kernel runs.
[[nodiscard]] Family reshape_family();
// Concat, DepthToSpace, Expand, SpaceToDepth, Split, Tile, Transpose, Trilu.
[[nodiscard]] Family movement_family();
// Pad, Slice.
[[nodiscard]] Family slice_family();
// Operators whose results depend on extents and attributes: ConstantOfShape, EyeLike, Range, Shape, Size.
[[nodiscard]] Family generate_family();

}  // namespace lowtide::kernels_internal
