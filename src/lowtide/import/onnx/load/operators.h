// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// Checks every node, in bodies too, against the definition of its operator: number of inputs and outputs, which of them
// may be left out, attributes. Require: functions are inlined.
// Errors: unsupported, listing every operator that has no definition here or works only on sequences, maps, optionals
// or strings; else invalid, of the first node that is not as its operator demands.
[[nodiscard]] Result<void> check_operators(const onnx::GraphProto& graph, const OpsetScopes& opsets);

}  // namespace lowtide::import_internal
