// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/inference/sized_node.h"

namespace lowtide::import_internal {

// The rule of apply_size_rules for Reshape.
void size_reshape(const Sized& sized);

// Checks that a Reshape keeps the number of elements. The onnx library checks this only if the target has a -1.
// Requires: apply_size_rules has been applied to `outputs`. Errors: invalid.
[[nodiscard]] Result<void> check_reshape(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                                         const std::vector<TensorFact>& outputs);

}  // namespace lowtide::import_internal
