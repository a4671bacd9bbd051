// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/inference/infer_body.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// Derives the facts of a node's outputs from the facts of its inputs. Returns one fact per output, including omitted
// ones. An omitted input is nullptr. The facts combine the onnx library's inference for the operator, the contents that
// `fold` computes, and proven upper bounds for operators whose sizes depend on data (NonZero, NonMaxSuppression,
// Unique, Compress, TopK with unknown k, ...).
// An unknown extent without a symbol is named after the output: "y[0]". If one branch of an If is invalid, the facts
// are those of the other branch, which every run takes (control_flow.h).
// Errors: what the library finds wrong with the node (invalid, with the text of the library); numbers that are out
// of range (invalid, over_limit); an operator that the library does not know (unsupported). The caller adds the
// place. Throws only InvariantViolation.
[[nodiscard]] Result<std::vector<TensorFact>> infer_node(const onnx::NodeProto& node,
                                                         std::span<const TensorFact* const> inputs,
                                                         const OpsetImports& opsets, const InferBody& infer_body);

}  // namespace lowtide::import_internal
