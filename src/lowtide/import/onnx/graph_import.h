// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/import/file.h"
#include "lowtide/import/imported.h"

namespace lowtide::import_internal {

// The ONNX part of import_model: bytes in, model out, without its digest. The story of an import:
//   1. scan_model bounds what parsing may cost, then protobuf parses (load.h)
//   2. functions are inlined within a budget, every operator is looked up (functions.h, operators.h)
//   3. the sizes that the user gives are bound to the inputs (bindings.h)
//   4. the graph and its bodies are walked in topological order, node by node (graph_walk.h, inference.h)
//   5. what stayed unknown or cannot be planned is listed in one error (findings.h)
// A Constant node becomes a constant tensor and is no node of the graph.
[[nodiscard]] Result<ImportedModel> import_onnx(FileBytes bytes, const ImportOptions& options);

}  // namespace lowtide::import_internal
