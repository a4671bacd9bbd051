// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/inference/infer_body.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// Facts of a node's outputs (one each, also for those left out) from the facts of its inputs (nullptr: left out): the
// onnx library's inference for the operator, helped by what `fold` knows of the contents, and proven upper bounds for
// operators whose sizes depend on data (NonZero, NonMaxSuppression, Unique, Compress, TopK of unknown k, ...).
// Where the library and the bounds know nothing, extents are unknown with a symbol that names the output: "y[0]".
// An If of which one branch is invalid has the facts of the other one, which every run takes: see control_flow.h.
// Errors: what the library finds wrong with the node (invalid; its text without its own prefixes), numbers that no
// arithmetic survives (invalid, over_limit), an operator it does not know (unsupported). The place is left to the
// caller. Throws nothing but InvariantViolation.
[[nodiscard]] Result<std::vector<TensorFact>> infer_node(const onnx::NodeProto& node,
                                                         std::span<const TensorFact* const> inputs,
                                                         const OpsetImports& opsets, const InferBody& infer_body);

}  // namespace lowtide::import_internal
