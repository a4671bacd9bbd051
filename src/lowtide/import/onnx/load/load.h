// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/import/file.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// A parsed model. Its header is checked, its functions are inlined, and all its operators are known. Tensors lack long
// raw data, which stay in the file (skeleton.h).
struct ParsedModel {
  std::unique_ptr<onnx::ModelProto> proto;
  std::string sha256;  // of the file
  int ir_version = 0;
  OpsetScopes opsets;
  std::string hints = {};  // ImportedModel::hints
};

// Parses and checks a model. Errors: malformed, with what the file looks like; an ir_version that does not exist, or no
// opset_import (invalid); an unsupported ir_version (unsupported); those of read_skeleton, opset_imports_from,
// inline_functions and check_operators.
[[nodiscard]] Result<ParsedModel> load_model(const ByteSource& file);

}  // namespace lowtide::import_internal
