// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/earlier/baselines/onnxruntime/kernels.h"
#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

using RuntimeValueId = Id<struct RuntimeValueTag>;

// What a session knows of a shape before the run. An extent is a number, or below 0 for a symbol. Equal forms are equal
// shapes.
using ShapeForm = std::vector<std::int64_t>;

// A tensor that ONNX Runtime allocates, or gets from the caller or the model.
struct RuntimeValue {
  Bytes size;
  int element_bits = 0;
  bool is_given = false;          // an input, a constant, a state, a captured tensor, or an output of an If that the
                                  // node outside has; never allocated
  bool is_output = false;         // returned to the caller, so it shares no other memory
  std::optional<ShapeForm> form;  // nullopt if the session does not know the shape before the run
};

struct RuntimeSteps;

struct RuntimeStep {
  NodeId node;
  std::vector<RuntimeValueId> inputs;  // with repetitions; captures of bodies last
  std::vector<RuntimeValueId> outputs;
  OutputRule rule = OutputRule::separate;    // of the first output
  std::optional<RuntimeValueId> rule_input;  // the input that `rule` refers to; nullopt if it is omitted
  std::vector<Bytes> scratch;                // blocks that exist while the step runs
  std::shared_ptr<const RuntimeSteps> body;  // the one of its bodies that needs the most; nullptr without bodies
  bool repeats_body = false;                 // a loop: its body runs more than once
};

struct RuntimeSteps {
  IdVector<RuntimeValueId, RuntimeValue> values;
  std::vector<RuntimeStep> steps;
  std::vector<Bytes> packed;  // blocks that the session takes before the first run and keeps
  Bytes total;                // of all values and scratch, including those of bodies
};

}  // namespace lowtide::baselines_internal
