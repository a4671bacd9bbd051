// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Checks where a tensor says that its bytes are, without ever opening the file, which need not exist: `location` is a
// relative path that stays below the model's folder, as text and on any system; `offset` and `length` are plain
// numbers that do not wrap; `length`, where given, is `expected_bytes`. Keys that are not known are ignored, and so is
// `checksum`; an offset may have any alignment and may overlap that of another tensor. Errors: malformed, invalid.
[[nodiscard]] Result<void> check_external_data(const onnx::TensorProto& tensor, std::int64_t expected_bytes);

}  // namespace lowtide::import_internal
