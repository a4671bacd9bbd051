// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/machine.h"

namespace lowtide {

using StepId = Id<struct StepTag>;
using ValueId = Id<struct ValueTag>;
using StreamId = Id<struct StreamTag>;
using KernelId = Id<struct KernelTag>;

// One production of a tensor during a run. A tensor has several values if its node runs again (recomputation) or if a
// copy puts its bytes elsewhere (swap, a part of a concat).
struct Value {
  TensorId tensor;
  // The step after which all bytes of the value are there: the one that writes it, or the last of the copies that do.
  // nullopt: the bytes are there before the run (inputs, constants, state).
  std::optional<StepId> written;
  friend bool operator==(const Value&, const Value&) = default;
};

// Runs a kernel of the node. It reads the node's operands (Graph::operands) and writes its outputs.
struct Compute {
  NodeId node;
  KernelId kernel;  // of Plan::kernels
  friend bool operator==(const Compute&, const Compute&) = default;
};

// Runs nothing, costs nothing: by what the operator means, every output's bytes are bytes of the operands already (views,
// slices, splits, and concats whose operands lie side by side).
struct Alias {
  NodeId node;
  friend bool operator==(const Alias&, const Alias&) = default;
};

// Copies bytes of the one value it reads to the same bytes of the one value it writes, which is of the same tensor.
// Several copies may fill one value piece by piece.
struct Copy {
  Interval<std::int64_t> bytes;  // of the tensor
  friend bool operator==(const Copy&, const Copy&) = default;
};

using Work = std::variant<Compute, Alias, Copy>;

// One action at one position of the program.
//
// The steps of a stream run one after another, in the order of the list. Steps of different streams may run at the same
// time, except as `after` says. So "a happens before b" follows from these two alone, and the list is one order in which
// the steps may run.
//
//   stream 0   | a | c     | d |     a: after {}   c: after {}
//   stream 1       | b |             b: after {a}  d: after {b}, and after c, which is of its own stream
struct Step {
  Work work;
  std::vector<ValueId> reads;   // of a node: one per entry of Graph::operands, in that order; of a copy: its source
  std::vector<ValueId> writes;  // of a node: one per output that is present, in order; of a copy: its destination
  StreamId stream;
  std::vector<StepId> after;  // earlier steps of other streams that must have ended; ascending, each once
  friend bool operator==(const Step&, const Step&) = default;
};

// What runs a sequence of steps: a worker (kernels, aliases, copies between regions that it addresses) or the copy engine
// of a link (copies from the link's one region to the other). Exactly one of the two is set.
struct Stream {
  std::optional<WorkerId> worker;
  std::optional<LinkId> link;
  friend bool operator==(const Stream&, const Stream&) = default;
};

// What runs and in which order, without addresses.
//
// Recomputation is one more Compute of a node and one more value. A swap is two copies on streams of links and two more
// values of one tensor:
//
//   step 0  worker  compute Relu(x) -> v0 of y        v0 lies in SRAM
//   step 1  link    copy v0 -> v1 of y                v1 lies in host memory; SRAM is free for others after it
//   step 7  link    copy v1 -> v2 of y                v2 lies in SRAM again
//   step 8  worker  compute Add(v2, z) -> v3          after step 7
struct Program {
  IdVector<StepId, Step> steps;
  IdVector<ValueId, Value> values;
  IdVector<StreamId, Stream> streams;  // at least one; 1 to limits::kMaxStreams
  std::vector<ValueId> outputs;        // the value handed to the caller, per entry of Graph::outputs
  std::vector<ValueId> updates;        // the value that the state holds after the run, per entry of Graph::state_updates
  friend bool operator==(const Program&, const Program&) = default;
};

// The node of a compute or alias step; nullopt for a copy.
[[nodiscard]] std::optional<NodeId> node_of(const Step& step);
[[nodiscard]] inline bool is_compute(const Step& step) { return std::holds_alternative<Compute>(step.work); }
[[nodiscard]] inline bool is_alias(const Step& step) { return std::holds_alternative<Alias>(step.work); }
[[nodiscard]] inline bool is_copy(const Step& step) { return std::holds_alternative<Copy>(step.work); }
// "compute", "alias" or "copy".
[[nodiscard]] std::string_view kind_name(const Step& step);

// Which value of its tensor each value is, in the order of ids and counted from 1. O(values log values).
[[nodiscard]] IdVector<ValueId, std::uint32_t> ordinals_of(const Program& program);

// Whether a node is computed more than once (O(steps log steps)), and whether a step copies.
[[nodiscard]] bool recomputes(const Program& program);
[[nodiscard]] bool copies(const Program& program);

}  // namespace lowtide
