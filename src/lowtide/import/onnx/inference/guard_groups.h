// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Refuses a convolution of ONNX whose `group` does not agree with the channels of its operands. The library does not
// compare them. With g groups, the weights of a convolution are [M, C / g, ...], and those of a transposed one are
// [C, M / g, ...], where C and M count the channels of the operand and of the result. Extents that are not known are
// not compared. Requires: `group` is at least 1. Errors: invalid.
[[nodiscard]] Result<void> guard_groups(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs);

}  // namespace lowtide::import_internal
