// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Refuses numbers for which the library's arithmetic would divide by zero, overflow, or truncate to 32 bits. They may
// be in a node's attributes, in the extents of its inputs or in known contents. Examples: a stride of 0, a dilation of
// 2^63 - 1, an axis beyond the rank, a perm with a repeated axis, a Slice step of 0, a scale that is not finite, a size
// beyond limits::kMaxTensorBytes. An unknown auto_pad is refused as well. No model that can run is refused. Errors
// (invalid, over_limit) name the attribute or input and the number.
[[nodiscard]] Result<void> guard_node(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs);

}  // namespace lowtide::import_internal
