// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Carries upper bounds through operators whose inference in the onnx library knows only exact numbers. The inference
// runs twice, and the results are combined:
//
//   the library sees               x[<=100,4] as   and infers, for example
//   1. bounds as unknown extents   [?,4]           [?,8]      numbers that hold for all extents within the bounds
//   2. bounds as exact numbers     [100,4]         [200,8]    upper bounds, if the operator is monotonic
//   result                                         [<=200,8]
//
// The second run is used only for monotonic operators (is_monotonic, an explicit list): no output extent decreases
// if an input extent, or a content that is read as a size, increases. For other operators, an extent that only the
// second run knows is unknown.

// Whether an extent or an element of the inputs has only an upper bound.
[[nodiscard]] bool has_bounds(std::span<const TensorFact* const> inputs);

[[nodiscard]] bool is_monotonic(std::string_view type);
// Whether the operator works element by element on all inputs with the broadcasting of NumPy.
[[nodiscard]] bool is_broadcasting(std::string_view type);

// Gives each extent that is unknown in `facts`, but exact in `bounded`, that number as its upper bound.
void take_bounds(const std::vector<TensorFact>& bounded, std::vector<TensorFact>& facts);

// For an operator with is_broadcasting(): bounds each unknown extent of `output` by the largest of the inputs, if all
// of them are known or have a bound. It is for inputs whose bounds differ, because the second run fails for them.
void bound_broadcast(std::span<const TensorFact* const> inputs, TensorFact& output);

// Returns the fact of a tensor that is one of two: what both agree on, and the larger of two extents as a bound. An
// unknown extent gets the symbol "<symbol>[<axis>]". Errors: different element types or kinds (invalid).
[[nodiscard]] Result<TensorFact> either_fact(const TensorFact& a, const TensorFact& b, const std::string& symbol);

}  // namespace lowtide::import_internal
