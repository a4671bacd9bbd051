// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// Checks every node, also in bodies, against the definition of its operator: the number of inputs and outputs, which
// of them may be omitted, and the attributes. Requires: functions are inlined.
// Errors: unsupported, with a list of every operator that has no definition or works only on sequences, maps,
// optionals or strings; otherwise invalid, for the first node that does not match its operator.
[[nodiscard]] Result<void> check_operators(const onnx::GraphProto& graph, const OpsetScopes& opsets);

}  // namespace lowtide::import_internal
