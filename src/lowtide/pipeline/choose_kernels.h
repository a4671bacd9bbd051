// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/analysis/alias_classes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/target/target.h"

namespace lowtide::detail {

// The first that the catalogue offers for each node.
[[nodiscard]] ChosenKernels choose_kernels(const Graph& graph, const Target& target);

}  // namespace lowtide::detail
