// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// Replaces every call of a model's function by the nodes of the function, also in bodies, within the budget of
// call_costs.h. Names of the graph and its bodies do not change. A name inside a function becomes "<call>/<name>",
// where <call> is the name of the calling node, or its operator, made unique. A function takes precedence over an
// operator of the same name. If a function imports other opset versions than the model, `opsets` records them for each
// of its nodes.
// Requires: the model is not on a protobuf arena, because messages must keep their addresses when they are swapped.
// Errors: those of check_call_costs and opset_imports_from; a call that does not fit its function, or a name that
// nothing in the function produces (invalid); a graph passed to a function as an attribute (unsupported).
[[nodiscard]] Result<void> inline_functions(onnx::ModelProto& model, std::int64_t file_bytes, OpsetScopes& opsets);

}  // namespace lowtide::import_internal
