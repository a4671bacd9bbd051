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

// A parsed model. Its header is checked, its functions are inlined, and all its operators are known.
struct ParsedModel {
  std::unique_ptr<onnx::ModelProto> proto;
  int ir_version = 0;
  OpsetScopes opsets;
};

// Refuses a file whose beginning shows that it is not an ONNX model, with the error that load_model would return. An
// accepted file may still be of another kind. Errors: those of scan_head.
[[nodiscard]] Result<void> check_head_of_model(std::string_view head, std::int64_t file_bytes);

// Parses and checks a model. Takes the bytes so that it can free them as soon as they are parsed. Errors: malformed,
// with what the file looks like; an ir_version that does not exist, or no opset_import (invalid); an unsupported
// ir_version (unsupported); those of scan_model, opset_imports_from, inline_functions and check_operators.
[[nodiscard]] Result<ParsedModel> load_model(FileBytes bytes);

}  // namespace lowtide::import_internal
