// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>

#include "lowtide/earlier/baselines/onnxruntime/step_types.h"

namespace lowtide::baselines_internal {

// Which memory holds each value.
struct BufferChoice {
  IdVector<RuntimeValueId, RuntimeValueId> holder;  // the value for which the memory was allocated or given
  // By holder: the step after which the memory is given back. nullopt if it lasts until the end of the run, as that of
  // outputs and of values without a reader.
  IdVector<RuntimeValueId, std::optional<std::size_t>> last_step;
};

// The allocation planner of ONNX Runtime for one stream. It visits the steps in their order. The first output of a step
// follows its rule. Every other temporary takes the memory of a dead temporary that has the same shape and element
// size. The temporary that died last comes first. Scalars and tensors of unknown shape do not reuse memory in this way.
// Outputs share nothing. O(uses of values x log).
[[nodiscard]] BufferChoice choose_buffers(const RuntimeSteps& steps);

}  // namespace lowtide::baselines_internal
