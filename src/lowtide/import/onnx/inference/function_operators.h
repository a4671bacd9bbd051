// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/import/onnx/inference/library_context.h"

namespace lowtide::import_internal {

// Infers the outputs of an operator that ONNX defines by a function body instead of an inference function (Celu,
// Mish, ...). It applies the library's inference to that body. Outputs stay unchanged if the operator has no body
// either. Throws what the library throws.
void infer_by_function(const onnx::OpSchema& schema, int opset, const onnx::NodeProto& node, FactContext& context);

}  // namespace lowtide::import_internal
