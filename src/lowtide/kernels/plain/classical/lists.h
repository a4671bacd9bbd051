// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide::kernels_internal {

// Lists in the attributes of operators of ai.onnx.ml. Each function returns an empty list if there is no attribute.

// Reads a list of reals. Integers become reals. numbers_in() counts the same attribute. Errors (unsupported): it is
// another kind of attribute.
[[nodiscard]] Result<std::vector<double>> reals_in(const Node& node, std::string_view name);
// The same, or the tensor with the suffix "_as_tensor" that may stand for the list. Errors (unsupported): the content
// of the tensor is not known; (invalid) both are present.
[[nodiscard]] Result<std::vector<double>> reals_or_tensor_in(const Node& node, std::string_view name);
// Errors (unsupported): the content of a tensor is not known.
[[nodiscard]] Result<std::vector<std::int64_t>> integers_in(const Node& node, std::string_view name);
// The entries of a list of numbers, or 1 for a number.
[[nodiscard]] std::int64_t numbers_in(const Node& node, std::string_view name);
[[nodiscard]] std::vector<std::string> texts_in(const Node& node, std::string_view name);

// If a run needs more scratch than the plan reserves, because lists in attributes have other lengths than the operands
// and labels that the scratch was counted by. Errors: invalid.
[[nodiscard]] Result<void> check_scratch(Bytes needed, Bytes reserved);

// "attribute 'a' has 3 entries, and 'b' has 4"
[[nodiscard]] Error different_lengths(std::string_view a, std::size_t length_of_a, std::string_view b,
                                      std::size_t length_of_b);

}  // namespace lowtide::kernels_internal
