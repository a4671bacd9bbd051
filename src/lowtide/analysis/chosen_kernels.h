// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/target/target.h"

namespace lowtide {

// The kernel chosen for each node of a graph. Kernel::scratch includes the arenas of the node's bodies.
using ChosenKernels = IdVector<NodeId, Kernel>;

// Combines the kernels of a node into one that needs no more than any of them: it has the least scratch, and permits
// all that any of them permits. Its name and cost are those of the first. Bounds for all kernels count bytes with it,
// so they may be below what each single kernel needs. Requires: there is a kernel. O(kernels log kernels).
[[nodiscard]] Kernel least_of(const std::vector<Kernel>& kernels);

}  // namespace lowtide
