// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/fold/fold_request.h"

namespace lowtide::import_internal {

// Whether `fold` has a rule for the operator. Without a rule, `fold` returns nullptr for every output. O(log n) for
// a table of n rules.
[[nodiscard]] bool may_fold(std::string_view domain, std::string_view type);

// Computes the contents of a node's outputs, as far as the inputs allow. It covers the arithmetic that models do on
// shapes: Shape, Size, Gather, Concat, Slice, Split, Squeeze, Unsqueeze, Reshape, Cast, arithmetic, comparison, Where,
// Range, ConstantOfShape, NonZero of a known content, Reduce*, and more. Returns one entry per output: nullptr if
// nothing is known, if the operator has no rule, or if the result would exceed limits::kMaxFoldedElements.
// An exact element is what ONNX defines, with the wrap-around and rounding of the element type. For Exp, Log, Pow, and
// sums and means of several floats, the standard leaves the last bit to the kernel. Such an element is the result in
// double precision, rounded once. What ONNX leaves undefined is unknown and not an error, because the node may be in a
// branch that never runs. Examples are a cast of NaN to an integer, a cast of a float beyond the range of the integer
// type, a shift by more than the width, and an index out of range.
// Errors (invalid), because no run can pass them: an integer division or Mod by a known 0; the lowest number of a
// signed type divided by -1, which that type cannot represent; a Range or Slice with a step of 0.
// O(elements in and out, times the rank); TopK and Unique also sort. A pure function.
[[nodiscard]] Result<std::vector<std::shared_ptr<const KnownContent>>> fold(const FoldRequest& request);

}  // namespace lowtide::import_internal
