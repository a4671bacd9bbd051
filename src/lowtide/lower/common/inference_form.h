// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/graph.h"

namespace lowtide::lower_internal {

// Whether an operator that also exists for training is known to run as in inference: a Dropout that keeps every
// element, or a BatchNormalization that reads its mean and variance. True for every other operator. O(operands).
[[nodiscard]] bool is_in_inference_form(const Graph& graph, NodeId node);

}  // namespace lowtide::lower_internal
