// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/earlier/baselines/onnxruntime.h"

namespace lowtide::cli_internal {

// Predicts a session of ONNX Runtime that runs the nodes of the file as they are, and fixes no extents that the file
// leaves open. If the request gives sizes, the file is imported again without them, because a session does not know
// them before the run. Requires: the model was imported with ImportOptions::keeps_declared_extents. Errors:
// unsupported, if ONNX Runtime does not run this format; those of predict_onnxruntime().
[[nodiscard]] Result<OnnxRuntimeMemory> predict_session(const ModelRequest& request, const ImportedModel& model);

}  // namespace lowtide::cli_internal
