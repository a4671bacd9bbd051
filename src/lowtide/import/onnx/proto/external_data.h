// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Checks the external location of a tensor's data. The file is never opened and need not exist. `location` must be a
// relative path that stays below the folder of the model, on any operating system. `offset` and `length` must be
// decimal numbers whose sum does not overflow. If `length` is given, it must be `expected_bytes`. Other keys are
// ignored, including `checksum`. An offset may have any alignment, and data of tensors may overlap. Errors: invalid.
[[nodiscard]] Result<void> check_external_data(const onnx::TensorProto& tensor, std::int64_t expected_bytes);

}  // namespace lowtide::import_internal
