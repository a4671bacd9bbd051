// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Infers the graph inside a node: takes the facts of its inputs and returns the facts of its outputs. The walk over the
// graph provides this function, because it knows the tensors around the body.
using InferBody =
    std::function<Result<std::vector<TensorFact>>(const onnx::GraphProto& body, std::span<const TensorFact> inputs)>;

}  // namespace lowtide::import_internal
