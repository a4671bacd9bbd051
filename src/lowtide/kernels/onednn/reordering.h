// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <optional>
#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/onednn/description.h"

namespace lowtide::kernels_internal {

// The same elements in another order. Padding of the result is zero.
struct Reordering {
  ExtentList extents;  // of oneDNN: with groups, [group, M / group, C / group, h, w]
  std::string from;    // names of orders (tensor_in_order)
  std::string to;
  friend auto operator<=>(const Reordering&, const Reordering&) = default;
};

// A lowtide::Pack (graph/lowered.h) of f32 weights with known extents. `missing`
// gets the reason if there is none.
[[nodiscard]] std::optional<Reordering> reordering_of(const Graph& graph, NodeId node, std::string& missing);

// The primitive for one thread. Returns nullptr if oneDNN has no suitable one.
[[nodiscard]] PrimitiveDescription describe(const Reordering& reordering);

}  // namespace lowtide::kernels_internal
