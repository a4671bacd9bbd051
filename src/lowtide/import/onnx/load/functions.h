// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// Replaces every call of a function of the model, in bodies too, by the nodes of the function, within the budget of
// call_costs.h. Names of the graph and its bodies stay; a name inside a function becomes "<call>/<name>", where <call>
// is the name of the calling node (or its operator), made unique. A function comes before an operator of the same name.
// Where a function follows other opset versions than the model, `opsets` knows so for each of its nodes.
// Require: the model is on no arena (messages keep their addresses when they are swapped).
// Errors: those of check_call_costs; a call that does not fit its function, a name that nothing in the function makes
// (invalid); a graph handed to a function as an attribute (unsupported).
[[nodiscard]] Result<void> inline_functions(onnx::ModelProto& model, std::int64_t file_bytes, OpsetScopes& opsets);

}  // namespace lowtide::import_internal
