// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/plan/plan.h"
#include "lowtide/runtime/memory.h"
#include "lowtide/runtime/port.h"
#include "lowtide/weights/weights.h"

namespace lowtide::runtime_internal {

// A step that runs a kernel.
struct KernelAction {
  StepId step;
  std::unique_ptr<PreparedKernel> kernel;
  std::vector<std::optional<ValueId>> reads;   // per entry of Node::inputs
  std::vector<std::optional<ValueId>> writes;  // per entry of Node::outputs
  std::optional<Offset> scratch;               // in the arena
  Offset object;                               // of the bound kernel, in the objects of a session
};

// A step that copies bytes of a value to the same place of another value.
struct CopyAction {
  StepId step;
  ValueId from;
  ValueId to;
  Interval<std::int64_t> bytes;
};

// Steps without work, such as aliases, have no action.
using Action = std::variant<KernelAction, CopyAction>;

// What Executable holds. The addresses of a session follow from it and from the base address of the arena.
struct Prepared {
  Graph graph;
  Plan plan;
  std::shared_ptr<const ModelWeights> weights;

  std::vector<Action> actions;  // in the order of the steps
  // The buffer that an input, a constant or a state has for itself. nullopt: the plan does not use the tensor, or it is
  // in the arena.
  IdVector<TensorId, std::optional<BufferId>> buffer_of;
  // The bytes of constants, at a multiple of the element size. Empty for all other tensors.
  IdVector<TensorId, std::span<const std::byte>> constants;
  std::vector<std::vector<std::byte>> copies;  // constants that had to be copied; `constants` refers to them
  Flags<TensorId> is_copied;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Port> states;
  Bytes objects;     // that hold the bound kernels of a session
  Bytes own_states;  // that hold all states of a session
  ExecutableMemory memory;
};

}  // namespace lowtide::runtime_internal
