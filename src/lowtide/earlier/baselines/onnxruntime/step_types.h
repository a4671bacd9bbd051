// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/earlier/baselines/onnxruntime/kernels.h"
#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

using RuntimeValueId = Id<struct RuntimeValueTag>;

// A tensor that ONNX Runtime allocates, or gets from the caller or the model.
struct RuntimeValue {
  Bytes size;
  int element_bits = 0;
  const Shape* shape = nullptr;  // of the graph
  bool is_given = false;         // an input, a constant, a state or a captured tensor; never allocated
  bool is_output = false;        // returned to the caller, so it shares no other memory
  bool has_known_shape = false;  // before the run
};

struct RuntimeStep {
  NodeId node;
  std::vector<RuntimeValueId> inputs;  // with repetitions; captures of bodies last
  std::vector<RuntimeValueId> outputs;
  OutputRule rule = OutputRule::separate;    // of the first output
  std::optional<RuntimeValueId> rule_input;  // the input that `rule` refers to; nullopt if it is omitted
  std::vector<Bytes> scratch;                // blocks that exist while the step runs
};

struct RuntimeSteps {
  IdVector<RuntimeValueId, RuntimeValue> values;
  std::vector<RuntimeStep> steps;
  std::vector<Bytes> packed;  // blocks that the session takes before the first run and keeps
};

}  // namespace lowtide::baselines_internal
