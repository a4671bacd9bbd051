// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/region.h"

namespace lowtide {

using StepId = Id<struct StepTag>;
using ValueId = Id<struct ValueTag>;
using BufferId = Id<struct BufferTag>;

// Half-open, in steps of one program. A buffer that lives to the end of the program ends at the number of steps.
// Where several streams run, too, these are positions in the list of steps: from the first step that touches the buffer
// to before the first that the planner lets start after all of them have ended. Buffers whose lifespans meet share no
// byte; of others the waits see to it that nobody writes what somebody still uses, so how fast a stream really is does
// not matter. Where the plan is for free data flow, the list counts as if it ran step by step.
// A program without steps (a branch that hands out a constant) has one moment all the same, in which all its buffers
// live: their lifespan is [0, 0).
using Lifespan = Interval<StepId>;

//   Relu(x) -> y in place, Concat(y, z) -> c without a copy, c handed to the caller:
//
//   address                 values   y, z, c    (c at offset 0, y at 0, z at 64: their bytes are c's)
//     128 +--------------+  buffer   of 128 bytes, kind output
//         |  z  |        |           lifespan [first write of x, end of program)
//      64 |-----+   c    |
//         |x, y |        |  x shares y's bytes: x dies in the step that writes y
//       0 +--------------+

enum class BufferKind : std::uint8_t {
  input,      // holds an input of the graph
  constant,   // holds a constant
  state,      // holds what is kept from run to run
  output,     // holds at least one output: lives to the end of the program
  temporary,  // holds only temporaries
  scratch,    // bytes of one kernel during its step, and the arenas of the bodies it runs; holds no value
};

[[nodiscard]] std::string_view to_string(BufferKind kind);
[[nodiscard]] std::optional<BufferKind> buffer_kind_from_string(std::string_view text);

// Some bytes of a buffer, and when they live.
struct BufferPart {
  Bytes size;         // > 0
  Lifespan lifespan;  // within the buffer's; not empty
  friend bool operator==(const BufferPart&, const BufferPart&) = default;
};

// A block of bytes. Buffers of kind input, constant and state have no placement: their bytes belong to the
// caller, to the model, or to the runtime, and no other buffer shares them. (In the body of a Loop or Scan the
// inputs are placed, because nobody else holds them; they live through the whole body.)
//
// Of a buffer that several tensors share, some bytes may live shorter than others: those of a concat that are not
// written yet, those of a split that have been read. `parts` says so; what does not live is free for other buffers.
//
//   address          values y {0..4}, z {4..8}, c = Concat(y, z)
//     8 |     +------+
//       |     |   z  |       parts: 4 bytes in [0, 3), 4 bytes in [1, 3)
//     4 +-----+  - - |
//       |  y      c  |       lifespan [0, 3): that of all parts together
//     0 +------------+
//         0     1   2  step
struct Buffer {
  BufferKind kind = BufferKind::temporary;
  Bytes size;         // bytes set aside; planners round up to the region's alignment, so that sums of sizes are exact
  Lifespan lifespan;  // within the program; not empty, unless that is
  std::optional<Placement> placement;
  // None: all bytes live as long as the buffer. Else at least two, of a placed buffer, from its first byte on and each
  // where the one before ends; their sizes add up to the buffer's.
  std::vector<BufferPart> parts = {};
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// One production of a tensor during a run, and where its bytes are.
struct Value {
  TensorId tensor;
  std::optional<StepId> written;  // the step that produces it; nothing: it is there before the run
  BufferId buffer;
  Offset offset;  // in the buffer; offset + size of the tensor <= size of the buffer
  friend bool operator==(const Value&, const Value&) = default;
};

struct Plan;

// The plan of a graph inside a node. Its offsets count from the scratch buffer of the step: region 0 of the
// inner plan starts at `offset` in it. Branches of an If share bytes, since one of them runs.
struct BodyPlan {
  std::string body;  // Body::name
  Offset offset;
  std::shared_ptr<const Plan> plan;
};

// How a value comes to be in its place.
enum class StepKind : std::uint8_t {
  compute,  // the node's kernel runs
  alias,    // nothing runs: every output is where its bytes already are (views, concat of slices)
};

[[nodiscard]] std::string_view to_string(StepKind kind);

// One node at one position of the program.
//
// Steps of one stream run one after another, in the order of the list. Those of different streams may run at once, but
// for what `after` says; so "a happens before b" is what follows from these two, and the list is one order in which the
// steps may run.
//
//   stream 0   | a | c     | d |     a: after {}   c: after {}
//   stream 1       | b |             b: after {a}  d: after {b}, and after c, which is of its own stream
struct Step {
  NodeId node;
  StepKind kind = StepKind::compute;
  std::vector<ValueId> reads;   // one for each of Graph::reads(node), in that order
  std::vector<ValueId> writes;  // one for each output that is there, in the node's order
  std::optional<BufferId> scratch;
  std::vector<BodyPlan> bodies;  // one for each of the node's bodies, in that order
  std::uint32_t stream = 0;      // < Plan::streams
  std::vector<StepId> after;     // earlier steps of other streams that must have ended; ascending, each once
};

// What the planner says of its result. Claims: verify recomputes what can be recomputed.
struct Claims {
  Bytes load_as_given;  // largest load in the graph's order: temporaries and outputs, dense, no aliasing, no alignment
  Bytes load;   // largest load of the program: bytes of the placed buffers that live in a step, scratch included
  Bytes bound;  // proven lower bound of the arena over all orders, streams and alias choices
  std::string bound_name;         // which bound: "must_be_live" or "search"
  std::string schedule;           // strategy that gave the order: "greedy_by_freed_bytes"
  bool schedule_optimal = false;  // load == bound
  std::string allocate;           // strategy that gave the offsets
  bool allocate_optimal = false;  // arena == load
  friend bool operator==(const Claims&, const Claims&) = default;
};

// Where the plan comes from, so that it is never applied to something else.
struct Provenance {
  std::string tool;          // "lowtide 0.1.0"
  std::string model_sha256;  // of the model file's bytes; empty for a graph that did not come from a file
  std::string graph;         // Graph::name
  std::int64_t nodes = 0;    // of this graph
  std::int64_t tensors = 0;
  std::vector<std::string> dims;  // "batch=8": bindings that the sizes depend on, sorted
  std::string target;             // name of the target
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// Everything that a runtime, a verifier and a report need. Plain data; who makes one promises what the comments
// above say, and verify checks it.
struct Plan {
  Provenance provenance;
  std::vector<Region> regions;  // indexed by RegionId; region 0 is the arena's first choice
  std::vector<Bytes> arena;     // for each region: the peak, highest end of a buffer in it
  std::uint32_t streams = 1;    // that run at once; 1 to limits::kMaxStreams
  IdVector<StepId, Step> program;
  IdVector<ValueId, Value> values;
  IdVector<BufferId, Buffer> buffers;
  Claims claims;
};

// Calls function(bytes in the buffer, lifespan) for each part; for a buffer without, once for all of it.
template <typename Function>
void for_each_part(const Buffer& buffer, Function function) {
  if (buffer.parts.empty()) {
    function(Interval<std::int64_t>{0, buffer.size.count()}, buffer.lifespan);
    return;
  }
  std::int64_t begin = 0;
  for (const BufferPart& part : buffer.parts) {
    function(Interval<std::int64_t>{begin, begin + part.size.count()}, part.lifespan);
    begin += part.size.count();
  }
}

// Bytes of a buffer that live in a step.
[[nodiscard]] inline Bytes living_bytes(const Buffer& buffer, StepId step) {
  Bytes living;
  for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
    if (lifespan.contains(step)) living += Bytes(bytes.end - bytes.begin);
  });
  return living;
}

// Bytes of placed buffers that live in each step, scratch included; of a program without steps, in its one moment.
// O(steps + buffers + parts).
[[nodiscard]] std::vector<Bytes> load_by_step(const Plan& plan);

// Sum over all regions.
[[nodiscard]] Bytes arena_bytes(const Plan& plan);

}  // namespace lowtide
