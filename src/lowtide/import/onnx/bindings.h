// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {

// What the user says of a model's sizes, applied to its inputs.
struct BoundInputs {
  Dims dims;                      // of all symbols that are bound, by --dim or through --shape
  std::vector<TensorFact> facts;  // one for each input of the graph
};

// A shape that gives an extent where the file has a symbol binds the symbol everywhere.
// Errors (invalid), each naming what the file has: a symbol or input that does not exist, an extent below 0 (but -1 in
// a shape keeps what the file says), a shape of another rank, a number that contradicts that of the file or of another
// option.
[[nodiscard]] Result<BoundInputs> bind_inputs(const onnx::GraphProto& graph, const ImportOptions& options);

}  // namespace lowtide::import_internal
