// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/plan/plan.h"
#include "lowtide/runtime/executable_options.h"
#include "lowtide/runtime/memory.h"
#include "lowtide/runtime/port.h"
#include "lowtide/runtime/run_place.h"
#include "lowtide/runtime/threads/workers.h"
#include "lowtide/weights/owned_bytes.h"
#include "lowtide/weights/weights.h"

namespace lowtide::runtime_internal {

// The values of a step that computes a node.
struct Operands {
  std::vector<std::optional<ValueId>> reads;   // per entry of Node::inputs
  std::vector<std::optional<ValueId>> writes;  // per entry of Node::outputs
};

// A step that runs a kernel.
struct KernelAction {
  StepId step;
  Operands operands;
  std::unique_ptr<PreparedKernel> kernel;
  std::optional<BufferId> scratch;
  Offset object;  // of the bound kernel, in the objects of a session
};

// A step that copies bytes of a value to the same place of another value.
struct CopyAction {
  StepId step;
  ValueId from;
  ValueId to;
  Interval<std::int64_t> bytes;
};

// A step that runs one of two bodies. Import leaves out a branch that no run can take. A run that takes it nevertheless
// ends with bad_extents.
struct IfAction {
  StepId step;
  Operands operands;
  std::optional<PreparedGraphId> then_body;
  std::optional<PreparedGraphId> else_body;
};

// The axis of a tensor that has one slice per iteration.
struct SliceAxis {
  int axis = 0;
  bool is_reversed = false;  // the first iteration has the last slice
};

// A step that runs a body repeatedly: Loop or Scan. The states and slices of both have other positions:
//
//                     Loop                         Scan
//   inputs            limit, condition, states     states, sequences
//   body's inputs     number, condition, states    states, slices
//   body's outputs    condition, states, slices    states, slices
//   outputs           states, stacked slices       states, stacked slices
struct LoopAction {
  StepId step;
  Operands operands;
  PreparedGraphId body;
  bool is_scan = false;
  std::size_t states = 0;
  std::vector<SliceAxis> sequences;  // of a Scan: per input that is a sequence
  std::vector<SliceAxis> stacks;     // per output that stacks slices
  // Where the next content of a state waits until the others are in place, in the bytes of the arena beyond the plan.
  // nullopt: it needs not wait, because no state has its bytes.
  std::vector<std::optional<Offset>> waiting;  // per state

  [[nodiscard]] std::size_t first_input() const { return is_scan ? 0 : 2; }   // state, of the node and of the body
  [[nodiscard]] std::size_t first_result() const { return is_scan ? 0 : 1; }  // state, of the body
};

// Steps without work, such as aliases, have no action.
using Action = std::variant<KernelAction, CopyAction, IfAction, LoopAction>;

[[nodiscard]] inline StepId step_of(const Action& action) {
  return std::visit([](const auto& one) { return one.step; }, action);
}

// Consecutive actions that run one after another, each with the whole team, or side by side, each on one thread.
struct Stretch {
  Interval<std::size_t> actions;
  bool is_side_by_side = false;
};

// When the actions of a graph run, if the team has several threads. A thread runs the actions of its streams in the
// order of the list, and the last one runs those of links. An action that runs beside no other one gets the whole team:
//
//   stream 0 (thread 0) | a | b     | d |     c waits for a, and d for c. So b and c run side by side, and each of a
//   stream 1 (thread 1)     | c |             and d has the whole team.
//
// The list is one of the legal orders, so the threads cannot wait for each other in a circle.
struct ActionOrder {
  std::vector<Stretch> stretches;
  // Both are empty if no stretch is side by side.
  std::vector<std::uint32_t> thread;  // per action
  // Per action and thread: how many actions of the thread in this stretch must end before the action begins.
  std::vector<std::uint32_t> needs;
  bool has_thread_for_copies = false;  // the last thread has only copies over links, which another one may run, too
};

// A tensor that a body reads in the graph around it.
struct PreparedCapture {
  ValueId outer;  // of the graph around the body
  TensorId inner;
};

// The step that runs a body.
struct AroundBody {
  PreparedGraphId graph;
  StepId step;
};

// The graph of the model, or a body, with its plan.
struct PreparedGraph {
  const Graph& graph;
  const Plan& plan;
  std::string path;                  // "" for the graph of the model, "loop/body/" for the body of node 'loop'
  std::optional<AroundBody> around;  // of a body
  Offset arena;                      // where region 0 of the plan begins in the arena of a session
  Offset extra = {};                 // where the bytes for states that wait begin there
  std::vector<PreparedCapture> captures = {};

  std::vector<Action> actions = {};  // in the order of the steps
  ActionOrder order = {};
  // The values that exist before a run: inputs, constants and states. nullopt: the plan does not use the tensor.
  IdVector<TensorId, std::optional<ValueId>> given = {};
  // The buffer that an input, a constant or a state has for itself. nullopt: the plan does not use the tensor, or it is
  // in the arena.
  IdVector<TensorId, std::optional<BufferId>> buffer_of = {};
  // The bytes of constants, at a multiple of the element size. Empty for all other tensors.
  IdVector<TensorId, std::span<const std::byte>> constants = {};
  Flags<TensorId> is_copied = {};              // constants whose bytes are in Prepared::copies
  std::vector<TensorId> dynamic_tensors = {};  // that have a size that depends on data
};

// What Executable holds. The addresses of a session follow from it and from the base address of the arena.
struct Prepared {
  Graph graph;
  Plan plan;
  std::shared_ptr<const ModelWeights> weights;
  ExecutableOptions options;

  IdVector<PreparedGraphId, PreparedGraph> graphs = {};  // each one before the bodies inside it
  std::vector<OwnedBytes> copies = {};                   // constants that had to be copied
  std::vector<Port> inputs = {};
  std::vector<Port> outputs = {};
  std::vector<Port> states = {};
  std::vector<Offset> outside = {};  // by region: where it begins in the memory outside; only for those that are there
  Bytes objects = {};                // that hold the bound kernels of a session
  Bytes own_states = {};             // that hold all states of a session
  ExecutableMemory memory = {};
  // The threads of the system in a run: those of the options, and at least 2 if one copies over links.
  int system_threads = 1;
  std::unique_ptr<Workers> workers = {};  // that sessions share; nullptr: runs have one thread
};

}  // namespace lowtide::runtime_internal
