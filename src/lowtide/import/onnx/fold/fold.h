// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/fold/fold_request.h"

namespace lowtide::import_internal {

// Whether `fold` has a rule for the operator. O(log n) in the table of rules; no answer of `fold` differs from nullptr
// where this says no.
[[nodiscard]] bool may_fold(std::string_view domain, std::string_view type);

// Computes, as far as the inputs allow, the content of a node's outputs: the arithmetic that real models do on shapes
// (Shape, Size, Gather, Concat, Slice, Split, Squeeze, Unsqueeze, Reshape, Cast, arithmetic, comparison, Where, Range,
// ConstantOfShape, NonZero of a known content, Reduce*, ...). One entry an output; nullptr: nothing is known, or the
// operator is not one of these, or the result would be above limits::kMaxFoldedElements.
// Exact: what it says `exact` is what ONNX defines, with the wrap-around and rounding of the element type. Where the
// standard leaves the last bit of a float to the kernel (Exp, Log, Pow, sums and means of several floats), it is the
// result in double precision, rounded once. What ONNX leaves undefined (a float beyond the range of the integer type it
// is cast to, NaN cast to an integer, a shift by more than the width, an index out of range) is unknown, not an error:
// the node may stand in a branch that never runs.
// Errors (invalid), since no run survives them: an integer division or Mod by an exact 0; the lowest number of a signed
// type divided by -1, which that type cannot hold; Range with a step of 0; a Slice step of 0.
// O(elements in and out, times the rank); a pure function.
[[nodiscard]] Result<std::vector<std::shared_ptr<const KnownContent>>> fold(const FoldRequest& request);

}  // namespace lowtide::import_internal
