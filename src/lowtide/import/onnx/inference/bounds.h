// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Upper bounds through operators whose library inference knows exact numbers only. Inference runs twice, and a third
// answer comes of the two:
//
//   shown to the library     x[<=100,4] as     Conv/Relu/Concat/... gives
//   1. bounds left out       [?,4]             [?,8]     what is known here holds for every number below the bound
//   2. bounds as numbers     [100,4]           [200,8]   an upper bound where the operator is monotonic
//   result                                     [<=200,8]
//
// The second run counts only for operators of which no output extent falls when an input extent, or a content that is
// read as a size, rises (is_monotonic, an explicit list). For others an extent that only the second run knows is
// unknown.

// Whether an extent or an element of the inputs is only bounded.
[[nodiscard]] bool has_bounds(std::span<const TensorFact* const> inputs);

[[nodiscard]] bool is_monotonic(std::string_view type);
// Element-wise over all inputs, with numpy's broadcasting.
[[nodiscard]] bool is_broadcasting(std::string_view type);

// Marks the extents of `facts` that are unknown, but known in `bounded`, as at most that number.
void take_bounds(const std::vector<TensorFact>& bounded, std::vector<TensorFact>& facts);

// Of an element-wise operator with numpy's broadcasting: an unknown extent of output 0 is at most the largest of the
// inputs, where all have one. For inputs whose bounds differ, on which the second run fails.
void bound_broadcast(std::span<const TensorFact* const> inputs, TensorFact& output);

// The fact of a tensor that is one of two: what both agree on; where two extents differ, the larger as a bound.
// Error (invalid): their element types, or kinds, differ.
[[nodiscard]] Result<TensorFact> either_fact(const TensorFact& a, const TensorFact& b, const std::string& symbol);

}  // namespace lowtide::import_internal
