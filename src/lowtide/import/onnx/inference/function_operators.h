// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/import/onnx/inference/library_context.h"

namespace lowtide::import_internal {

// Outputs of an operator that ONNX defines by a function body and not by an inference function (Celu, Mish, ...), by
// the library's inference over that body. Leaves the outputs as they are where the operator has no body either. Throws
// what the library throws.
void infer_by_function(const onnx::OpSchema& schema, int opset, const onnx::NodeProto& node, FactContext& context);

}  // namespace lowtide::import_internal
