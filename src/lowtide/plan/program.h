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

// What one computation or one copy of a tensor produces. A tensor has several values if its node runs again
// (recomputation), or if a copy puts its bytes in another place (swap, a part of a concat).
struct Value {
  TensorId tensor;
  // The step after which the value is complete: the step that writes it, or the last of the copies that fill it.
  // nullopt means that it is complete before the run (inputs, constants, states).
  std::optional<StepId> written;
  friend bool operator==(const Value&, const Value&) = default;
};

// Runs a kernel of the node. It reads the node's operands (Graph::operands) and writes its outputs.
struct Compute {
  NodeId node;
  KernelId kernel;  // of Plan::kernels
  friend bool operator==(const Compute&, const Compute&) = default;
};

// Runs no kernel and takes no time, because the bytes of all outputs are bytes of the operands: views, slices, splits,
// and concats whose operands are adjacent.
struct Alias {
  NodeId node;
  friend bool operator==(const Alias&, const Alias&) = default;
};

// Copies a range of bytes from the value that the step reads to the value that it writes. Both are values of one
// tensor. Several copies may fill one value.
struct Copy {
  Interval<std::int64_t> bytes;  // within the tensor
  friend bool operator==(const Copy&, const Copy&) = default;
};

using Work = std::variant<Compute, Alias, Copy>;

// One action at one position of the program.
//
// The steps of a stream run one after another, in the order of the list. Steps of different streams may run at the same
// time, unless `after` forbids it. The relation "happens before" follows from these two rules alone. The list is one of
// the orders in which the steps may run.
//
//   stream 0   | a | c     | d |     a: after {}   c: after {}
//   stream 1       | b |             b: after {a}  d: after {b}, and after c, which is of its own stream
struct Step {
  Work work;
  std::vector<ValueId> reads;   // one per entry of Graph::operands of the node; for a copy its source
  std::vector<ValueId> writes;  // one per output of the node that is present; for a copy its destination
  StreamId stream;
  std::vector<StepId> after;  // earlier steps of other streams that must end first; ascending, each once
  friend bool operator==(const Step&, const Step&) = default;
};

// Runs a sequence of steps. A stream belongs to a worker or to a link; exactly one of them is set. A worker runs
// kernels, aliases, and copies between regions that it can address. The copy engine of a link copies from the region
// `from` of the link to the region `to`.
struct Stream {
  std::optional<WorkerId> worker;
  std::optional<LinkId> link;
  friend bool operator==(const Stream&, const Stream&) = default;
};

// The steps, their order and their values, without addresses.
//
// A recomputation is another Compute step of a node and another value. A swap is two copies on streams of links, with
// two more values of one tensor:
//
//   step 0  worker  compute Relu(x) -> v0 of y        v0 is in SRAM
//   step 1  link    copy v0 -> v1 of y                v1 is in host memory; its bytes in SRAM are now free
//   step 7  link    copy v1 -> v2 of y                v2 is in SRAM again
//   step 8  worker  compute Add(v2, z) -> v3          after step 7
struct Program {
  IdVector<StepId, Step> steps;
  IdVector<ValueId, Value> values;
  IdVector<StreamId, Stream> streams;  // 1 to limits::kMaxStreams
  std::vector<ValueId> outputs;        // the value that the caller gets, per entry of Graph::outputs
  std::vector<ValueId> updates;  // the value that the state holds after the run, per entry of Graph::state_updates
  friend bool operator==(const Program&, const Program&) = default;
};

// The node of a compute or alias step; nullopt for a copy.
[[nodiscard]] std::optional<NodeId> node_of(const Step& step);
[[nodiscard]] inline bool is_compute(const Step& step) { return std::holds_alternative<Compute>(step.work); }
[[nodiscard]] inline bool is_alias(const Step& step) { return std::holds_alternative<Alias>(step.work); }
[[nodiscard]] inline bool is_copy(const Step& step) { return std::holds_alternative<Copy>(step.work); }
// "compute", "alias" or "copy".
[[nodiscard]] std::string_view kind_name(const Step& step);

// The position of each value among the values of its tensor, counted from 1. O(values log values).
[[nodiscard]] IdVector<ValueId, std::uint32_t> ordinals_of(const Program& program);

// Whether a node has several steps, compute or alias. Bodies are not included: see scope_of. O(steps log steps).
[[nodiscard]] bool recomputes(const Program& program);
// Whether a step copies. O(steps).
[[nodiscard]] bool copies(const Program& program);

}  // namespace lowtide
