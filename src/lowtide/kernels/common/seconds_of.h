// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/target/cost.h"

namespace lowtide::kernels_internal {

// The time of a node whose kernels have not been measured, by the plain model (target/cost.h).
[[nodiscard]] inline double seconds_of(const Graph& graph, NodeId node) {
  return static_cast<double>(estimated_picoseconds(graph, node, Kernel{})) * 1e-12;
}

}  // namespace lowtide::kernels_internal
