// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"

namespace lowtide::lower_internal {

// The constant that a tensor is, or that a Cast to its type reads; nullopt if there is none. O(1).
[[nodiscard]] std::optional<TensorId> constant_behind(const Graph& graph, TensorId tensor);

// The only number of a constant of type f32 or f16, through a Cast to f32. nullopt if its bytes are not in the model
// file, or there are several. O(1).
[[nodiscard]] std::optional<float> constant_number(const Graph& graph, const ConstantTable& table, TensorId tensor);

}  // namespace lowtide::lower_internal
