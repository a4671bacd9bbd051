// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/import/file.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// A model that is parsed, whose header is understood, without functions, and whose operators are all known.
struct ParsedModel {
  std::unique_ptr<onnx::ModelProto> proto;
  int ir_version = 0;
  OpsetScopes opsets;
};

// Refuses what is no ONNX model by the beginning of its file, as load_model would with the whole; what it accepts may
// still be anything. Errors: as scan_head.
[[nodiscard]] Result<void> check_head_of_model(std::string_view head, std::int64_t file_bytes);

// Takes the bytes, to free them as soon as they are parsed. Errors: malformed (not an ONNX model: what it looks like),
// and those of scan_model, opset_imports_from, inline_functions and check_operators.
[[nodiscard]] Result<ParsedModel> load_model(FileBytes bytes);

}  // namespace lowtide::import_internal
