// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/target/target.h"

namespace lowtide {

// The kernel chosen for each node of a graph. Kernel::scratch includes the arenas of the node's bodies.
using ChosenKernels = IdVector<NodeId, Kernel>;

}  // namespace lowtide
