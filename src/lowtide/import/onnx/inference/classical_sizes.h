// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Domain ai.onnx.ml, of the models of classical machine learning.
[[nodiscard]] bool is_classical_domain(const std::string& domain);

// Derives the outputs of an operator of that domain, of which the library knows few sizes. The features of a row are
// the last axis of a matrix, and an operand with one axis is one row. Errors (invalid): an operand has more axes.
[[nodiscard]] Result<std::vector<TensorFact>> infer_classical(const onnx::NodeProto& node,
                                                              std::span<const TensorFact* const> inputs);

}  // namespace lowtide::import_internal
