// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/earlier/graphdef/op_rules.h"

namespace lowtide::graphdef_internal {

// What a slice takes along one axis of its operand: `count` elements, from `begin` on, `stride` apart.
struct AxisSlice {
  std::int64_t begin = 0;
  std::int64_t stride = 1;
  std::int64_t count = 0;  // kOpen if the extent of the operand is
};

// x[1:5:2, tf.newaxis, ..., 3]     axes  {1, 2, 2}, {0, 1, all}..., {3, 1, 1}     shape  [2, 1, all..., ]
struct SlicePlan {
  std::vector<AxisSlice> axes;  // by axis of the operand
  Extents shape;                // of the result, with new axes and without axes that one index takes
};

// nullopt: what the slice takes is not known, or impossible.
[[nodiscard]] std::optional<SlicePlan> plan_slice(const NodeTypes& types);          // Slice
[[nodiscard]] std::optional<SlicePlan> plan_strided_slice(const NodeTypes& types);  // StridedSlice

}  // namespace lowtide::graphdef_internal
