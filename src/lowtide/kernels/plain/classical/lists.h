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

// Reads a list of reals, or the tensor with the suffix "_as_tensor" that may stand for it. Integers become reals.
// Errors (unsupported): the content of the tensor is not known; (invalid) both are present.
[[nodiscard]] Result<std::vector<double>> reals_in(const Node& node, std::string_view name);
// Errors (unsupported): the content of a tensor is not known.
[[nodiscard]] Result<std::vector<std::int64_t>> integers_in(const Node& node, std::string_view name);
// The entries of a list of numbers, or 1 for a number.
[[nodiscard]] std::int64_t numbers_in(const Node& node, std::string_view name);
[[nodiscard]] std::vector<std::string> texts_in(const Node& node, std::string_view name);

// "attribute 'a' has 3 entries, and 'b' has 4"
[[nodiscard]] Error different_lengths(std::string_view a, std::size_t length_of_a, std::string_view b,
                                      std::size_t length_of_b);

}  // namespace lowtide::kernels_internal
