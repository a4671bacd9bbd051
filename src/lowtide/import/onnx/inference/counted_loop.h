// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lowtide/import/onnx/inference/infer_body.h"

namespace lowtide::import_internal {

// Returns the iterations of a Loop whose condition compares a counter with a limit, as exporters write loops of other
// frameworks:
//
//   state i = 0, limit = 24, each iteration returns i + 1, and the condition i + 1 < limit: 24 iterations
//
// The counter is the number of the iteration, or a state to which each iteration adds a constant above 0. The limit and
// the first number are known: constants, results of earlier nodes, or states that every iteration returns as they are.
// Casts and Identity nodes may be between them. If the condition is the And of several, one of them is enough. The
// number then is an upper bound, as it is if only an upper bound of the limit is known. It counts the first iteration,
// so it holds if the loop begins. nullopt: the body does not count like this. `inputs`: those of the node, of which the
// first two are the trip count and the first condition.
// O(nodes of the body).
struct CountedIterations {
  std::int64_t most = 0;
  bool is_exact = false;
};
[[nodiscard]] std::optional<CountedIterations> counted_iterations(const onnx::GraphProto& body,
                                                                  std::span<const TensorFact* const> inputs,
                                                                  const InferBody& infer_body);

}  // namespace lowtide::import_internal
