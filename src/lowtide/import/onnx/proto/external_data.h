// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

struct ExternalPlace {
  std::string location;     // relative to the folder of the model, without ".."
  std::int64_t offset = 0;  // in bytes
};

// Returns where the data of a tensor are outside of the model. The file is not opened and need not exist. `location`
// must be a relative path that stays below the folder of the model, on any operating system. It may have ".." behind a
// folder, as in "sub/../w.bin", which is "w.bin" even if sub is a link to another folder. `offset` and `length` must
// be decimal numbers whose sum does not overflow. If `length` is given, it must be `expected_bytes`. Other keys are
// ignored, including `checksum`. An offset may have any alignment, and data of tensors may overlap. Errors: invalid.
[[nodiscard]] Result<ExternalPlace> external_place_of(const onnx::TensorProto& tensor, std::int64_t expected_bytes);

}  // namespace lowtide::import_internal
