// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "lowtide/import/onnx/inference/infer_body.h"

namespace lowtide::import_internal {

// Infers If, Loop and Scan of the standard domain, which run bodies. The library is not used for them, because it
// knows neither contents nor bounds and discards the shapes of a loop's states.
//
//   If     Both bodies are inferred, then_branch first. If the condition is known, the outputs are those of the branch
//          that runs, and the other branch may be invalid. Otherwise they are what both agree on, with the larger of
//          two extents as a bound. If one branch is invalid, for example for these sizes, no run can take it, so the
//          outputs are those of the other one. The caller's `infer_body` sees the error and can drop that branch.
//   Loop   The states have the sizes that hold in every iteration (repeated_body.h). The content of a state is kept
//          only if the body returns the state unchanged. A scan output is as long as the trip count: exactly M if M is
//          known and the condition is always true, at most M if only M is known. A condition that counts
//          (counted_loop.h) says as much.
//   Scan   States are treated as in a Loop. The scan outputs have the extent of the scanned sequence. This covers Scan
//          from opset 9 on, where it has no batch.
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
