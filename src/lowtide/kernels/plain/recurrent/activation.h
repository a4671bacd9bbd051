// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/plain/elementwise/row_loops.h"

namespace lowtide::kernels_internal {

// An activation of a recurrent operator. It computes a row of elements in place.
struct Activation {
  void (*row)(const float* x, float* y, std::int64_t count, const Numbers& numbers) = nullptr;
  Numbers numbers{};  // alpha and beta
  void operator()(float* x, std::int64_t count) const { row(x, x, count, numbers); }
};

// The activations of a node: `defaults` if it has no attribute `activations`, once per direction. Values of
// activation_alpha and activation_beta belong to the functions that have such a parameter, one after another. Returns
// nullopt if a name is unknown, or if there are not `count` names.
[[nodiscard]] std::optional<std::vector<Activation>> activations_of(const Node& node,
                                                                    const std::vector<std::string>& defaults,
                                                                    std::size_t count);

}  // namespace lowtide::kernels_internal
