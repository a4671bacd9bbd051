// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::kernels_internal {

// An activation of a recurrent operator.
struct Activation {
  float (*function)(float x, float alpha, float beta) = nullptr;
  float alpha = 0;
  float beta = 0;
  [[nodiscard]] float operator()(float x) const { return function(x, alpha, beta); }
};

// The activations of a node: `defaults` if it has no attribute `activations`, once per direction. Values of
// activation_alpha and activation_beta belong to the functions that have such a parameter, one after another. Returns
// nullopt if a name is unknown, or if there are not `count` names.
[[nodiscard]] std::optional<std::vector<Activation>> activations_of(const Node& node,
                                                                    const std::vector<std::string>& defaults,
                                                                    std::size_t count);

}  // namespace lowtide::kernels_internal
