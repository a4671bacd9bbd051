// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/earlier/baselines/onnxruntime.h"

namespace lowtide::cli_internal {

// What a session of ONNX Runtime knows of shapes before a run. It fixes no extents that the file leaves open: if the
// request gives sizes, the file is imported again without them. If that is not possible, all extents count as known.
// Requires: the model was imported with ImportOptions::keeps_declared_extents.
[[nodiscard]] OnnxRuntimeShapes session_shapes(const ModelRequest& request, const ImportedModel& model);

// Predicts a session of ONNX Runtime that runs the nodes of the file as they are, with session_shapes(). Errors:
// unsupported, if ONNX Runtime does not run this format; those of predict_onnxruntime().
[[nodiscard]] Result<OnnxRuntimeMemory> predict_session(const ModelRequest& request, const ImportedModel& model);

}  // namespace lowtide::cli_internal
