// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide::export_internal {

// onnx_of_graph, except for memory that the system refuses.
[[nodiscard]] Result<void> write_model(const Graph& graph, std::string& bytes, std::vector<std::string>& lost);

}  // namespace lowtide::export_internal
