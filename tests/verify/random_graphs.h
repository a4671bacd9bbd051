// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "lowtide/base/random.h"
#include "lowtide/graph/graph.h"

namespace lowtide::testing {

// A valid graph of 0 to 12 nodes and tensors of at most 256 bytes: element-wise operators with and without
// broadcasting, all views (contiguous or not), kernels with several results, If and Loop with bodies, control inputs,
// tensors without elements, tensors without readers, outputs that are inputs, constants, or named twice.
[[nodiscard]] std::shared_ptr<const Graph> random_graph(Random& random);

}  // namespace lowtide::testing
