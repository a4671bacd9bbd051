// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Refuses numbers in a node's attributes, input extents and known contents with which the library's arithmetic would
// divide by zero, overflow or be cut to 32 bits: strides of 0, dilations of 2^63 - 1, axes beyond every rank, a perm
// that repeats itself, a Slice step of 0, scales that are not finite, sizes beyond limits::kMaxTensorBytes, ...; and an
// auto_pad that does not exist. None is in the way of a model that can run. Errors (invalid, over_limit) name the
// attribute or input and the number.
[[nodiscard]] Result<void> guard_node(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs);

}  // namespace lowtide::import_internal
