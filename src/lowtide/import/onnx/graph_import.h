// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/import/file.h"
#include "lowtide/import/imported.h"

namespace lowtide::import_internal {

// Makes the table of operators of the onnx library, which it otherwise makes when the first one is looked up.
void register_operators();

// Imports an ONNX model from the bytes of its file, as import_model does:
//   1. read_skeleton limits the cost of parsing, then protobuf parses (load/load.h)
//   2. functions are inlined within a budget, and every operator is looked up (load/functions.h, load/operators.h)
//   3. the sizes that the user gives are bound to the inputs (bindings.h)
//   4. the graph and its bodies are walked in topological order (walk/graph_walk.h, inference/infer_node.h)
//   5. one error lists what is still unknown or cannot be planned (walk/findings.h)
// A Constant node becomes a constant tensor and is not a node of the graph. Long data of constants are not read, except
// for integers that may be shapes.
[[nodiscard]] Result<ImportedModel> import_onnx(const ByteSource& file, const ImportOptions& options);

}  // namespace lowtide::import_internal
