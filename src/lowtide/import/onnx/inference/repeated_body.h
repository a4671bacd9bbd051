// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/inference/infer_body.h"

namespace lowtide::import_internal {

// "number of inputs: 3, expected 2"
[[nodiscard]] Error wrong_count(const std::string& what, std::size_t has, std::size_t expected);

// Infers a body, and checks that there is one fact per output.
[[nodiscard]] Result<std::vector<TensorFact>> run_body(const onnx::GraphProto& body,
                                                       const std::vector<TensorFact>& inputs,
                                                       const InferBody& infer_body);

// The body of a Loop or Scan. Both its inputs and its outputs contain the states as one range.
struct RepeatedBody {
  const onnx::NodeProto& node;
  const onnx::GraphProto& body;
  std::vector<TensorFact> inputs;  // those of the first iteration
  std::size_t first_state = 0;     // index of the first state among the inputs
  std::size_t state_count = 0;
  std::size_t first_state_output = 0;  // index of the first state among the outputs
};

// The number of iterations, by the facts of the outputs of the body.
using TripCount = std::function<KnownExtent(const std::vector<TensorFact>& outputs)>;

// What holds in every iteration.
struct RepeatedFacts {
  std::vector<TensorFact> outputs;  // of the body
  std::vector<TensorFact> states;   // after the last iteration
};

// Infers the body until its states hold for every iteration:
//
//   1. The states have their first sizes. If the body returns them unchanged, they hold.
//   2. An extent that changed is bounded by the larger of its two sizes, and if that does not hold, it is unknown.
//   3. What the body then returns, together with the first size, may be a number or a bound nevertheless. A state that
//      grows by a fixed number per iteration, as by Concat, has its first size plus that number per iteration:
//
//        s = [2], 10 iterations, each returns Concat(s, row): s is unknown as "y[0]", and the body returns "y[0]+1".
//        So s has at most 2 + 10 rows.
//
// An unknown extent of state i has the symbol "<output i of the node>[axis]". Inference multiplies along nested loops.
// So in a body that contains loops nested two deep, an extent that changed is unknown at once, and in one that contains
// loops nested four deep, step 3 is left out.
[[nodiscard]] Result<RepeatedFacts> infer_repeated(RepeatedBody loop, const InferBody& infer_body,
                                                   const TripCount& trip_count);

}  // namespace lowtide::import_internal
