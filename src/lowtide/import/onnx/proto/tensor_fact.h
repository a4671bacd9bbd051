// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/import/onnx/fold/known_content.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// What is known of a tensor before the run.
struct TensorFact {
  KnownInput known;       // element type, extents, content
  bool is_tensor = true;  // false for a sequence, optional or map
  onnx::TypeProto type;   // set only if is_tensor is false
};

}  // namespace lowtide::import_internal
