// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/export/onnx/onnx_headers.h"

namespace lowtide::export_internal {

// Adds the version of each domain that the nodes of the model and its bodies use. For a domain that the library knows,
// the latest one in which all nodes have their operands, attributes and meaning (graph/older_meaning.h), and first of
// those up to 21, which many tools read. If there is none: 21. For another domain: 1. Removes the attribute
// kSinceAttribute. Returns whether all versions fit.
[[nodiscard]] bool add_opset_imports(onnx::ModelProto& model);

}  // namespace lowtide::export_internal
