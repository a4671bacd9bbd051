// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/onnx_headers.h"
#include "lowtide/simplify/fold.h"

namespace lowtide::detail {

// What is known of a tensor of an ONNX graph while its sizes are worked out.
struct TensorFact {
  KnownInput known;       // dtype, extents, content
  bool is_tensor = true;  // false: a sequence, optional or map
  onnx::TypeProto type;   // only where is_tensor is false
};

// Opset version of each domain ("" is the standard one) as the model imports them.
using OpsetImports = std::map<std::string, int, std::less<>>;

// Infers a body: facts of its inputs in, facts of its outputs out. Given by the walk over the graph, which knows the
// tensors around the body and keeps what it found for each tensor in it.
using InferBody =
    std::function<Result<std::vector<TensorFact>>(const onnx::GraphProto& body, std::span<const TensorFact> inputs)>;

// Facts of a node's outputs (one each, also for those left out) from the facts of its inputs (nullptr: left out): the
// onnx library's inference for the operator, helped by what `fold` knows of the contents, and proven upper bounds for
// operators whose sizes depend on data (NonZero, NonMaxSuppression, Unique, Compress, TopK of unknown k, ...).
// Where the library and the bounds know nothing, extents are unknown with a symbol that names the output: "y[0]".
// An If of which one branch is invalid has the facts of the other one, which every run takes: see inference_bodies.h.
// Errors: what the library finds wrong with the node (invalid; its text without its own prefixes), numbers that no
// arithmetic survives (invalid, over_limit), an operator it does not know (unsupported). The place is left to the
// caller. Throws nothing but InvariantViolation.
[[nodiscard]] Result<std::vector<TensorFact>> infer_node(const onnx::NodeProto& node,
                                                         std::span<const TensorFact* const> inputs,
                                                         const OpsetImports& opsets, int ir_version,
                                                         const InferBody& infer_body);

}  // namespace lowtide::detail
