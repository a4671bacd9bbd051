// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "lowtide/import/onnx/inference/infer_body.h"

namespace lowtide::import_internal {

// If, Loop and Scan of the standard domain: operators that run bodies. Not left to the library, which knows neither
// contents nor bounds and forgets the shapes of a loop's states.
//
//   If     Both bodies are inferred, then_branch first. Where the condition is known, the outputs are those of the
//          branch that runs, and the other may be wrong in itself; else what both agree on, and the larger of two
//          extents as a bound. Where one of the two is invalid (for these sizes, say), no run survives it, so the other
//          one runs; whoever gave `infer_body` has seen the error and can leave that branch out.
//   Loop   States keep an extent that the body hands on unchanged; any other becomes unknown, and the body is inferred
//          again, at most four times in all: the last time holds. Contents of states do not survive, unless the body
//          returns the state as it is. A scan output is as long as the trip count: exact where M is known and the
//          condition is true throughout, at most M where only M is known.
//   Scan   States as those of a Loop; the sequence's extent goes to the scan outputs. From opset 9 on, where Scan has
//          no batch.
//
// Repeated inference multiplies over nested loops: bodies that hold loops two deep are inferred once, with states of
// unknown extents (and once more where even their rank changes).
[[nodiscard]] Result<std::vector<TensorFact>> infer_if(const onnx::NodeProto& node,
                                                       std::span<const TensorFact* const> inputs,
                                                       const InferBody& infer_body);
[[nodiscard]] Result<std::vector<TensorFact>> infer_loop(const onnx::NodeProto& node,
                                                         std::span<const TensorFact* const> inputs,
                                                         const InferBody& infer_body);
[[nodiscard]] Result<std::vector<TensorFact>> infer_scan(const onnx::NodeProto& node,
                                                         std::span<const TensorFact* const> inputs,
                                                         const InferBody& infer_body);

}  // namespace lowtide::import_internal
