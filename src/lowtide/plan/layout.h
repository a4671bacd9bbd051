// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/plan/machine.h"
#include "lowtide/plan/program.h"

namespace lowtide {

struct Plan;

using BufferId = Id<struct BufferTag>;

// The steps in which a buffer is live, half-open. A buffer that is live until the end of the program ends at the number
// of steps.
//
// With several streams, these are positions in the list of steps. The lifespan begins at the first step that touches
// the buffer. It ends at the first step that starts only after all steps that touch the buffer have ended. Two buffers
// whose lifespans overlap share no byte. If any other two buffers share bytes, `Step::after` ensures that no step
// writes bytes that another step still uses, no matter how fast the streams are.
//
// A program without steps, such as a branch that returns a constant, has one moment in which all buffers are live.
// Their lifespan is [0, 0).
using Lifespan = Interval<StepId>;

// An example: Relu(x) -> y in place; Concat(y, z) -> c without a copy; c is returned to the caller:
//
//   address                 values   x, y, z, c (c at offset 0, x and y at 0, z at 64: all bytes are c's)
//     128 +--------------+  buffer   of 128 bytes, kind output
//         |  z  |        |           lifespan [first write of x, end of program)
//      64 |-----+   c    |
//         |x, y |        |  x and y share bytes: the step that writes y is the last that reads x
//       0 +--------------+

enum class BufferKind : std::uint8_t {
  input,      // holds an input of the graph
  constant,   // holds a constant
  state,      // holds a state, and the tensor that replaces its content
  output,     // holds at least one of Program::outputs; is live until the end of the program
  temporary,  // holds other values
  scratch,    // workspace of one kernel during its step, and arenas of the bodies that it runs; holds no value
};

template <>
inline constexpr auto kEnumNames<BufferKind> = enum_names<BufferKind>({{BufferKind::input, "input"},
                                                                       {BufferKind::constant, "constant"},
                                                                       {BufferKind::state, "state"},
                                                                       {BufferKind::output, "output"},
                                                                       {BufferKind::temporary, "temporary"},
                                                                       {BufferKind::scratch, "scratch"}});

// The kind of a buffer that holds only a tensor of this role.
[[nodiscard]] BufferKind buffer_kind_of(Role role);

// A range of bytes of a buffer, and the steps in which these bytes are live.
struct BufferPart {
  Bytes size;         // > 0
  Lifespan lifespan;  // within the buffer's; not empty
  friend bool operator==(const BufferPart&, const BufferPart&) = default;
};

// A block of bytes. Buffers of kind input, constant and state have no placement: their bytes belong to the caller, to
// the model or to the runtime, and no other buffer shares them. In the body of a Loop or Scan, the inputs have a
// placement, because no other memory holds them. They are live in the whole body.
//
// If several values share a buffer, some of its bytes may be live for a shorter time than others. For example, an
// operand of a concat is not live before it is written, and a result of a split is not live after its last read.
// `parts` states these times. Other buffers may use bytes that are not live.
//
//   address          values y {0..4}, z {4..8}, c = Concat(y, z)
//     8 |     +------+
//       |     |   z  |       parts: 4 bytes in [0, 3), 4 bytes in [1, 3)
//     4 +-----+  - - |
//       |  y      c  |       lifespan [0, 3), which covers all parts
//     0 +------------+
//         0     1   2  step
struct Buffer {
  BufferKind kind = BufferKind::temporary;
  Bytes size;  // reserved bytes; planners round up to the alignment of the region, so that sums of sizes are exact
  Lifespan lifespan;  // within the program; empty only if the program has no steps
  std::optional<Placement> placement;
  // Empty if all bytes are live in the whole lifespan. Otherwise at least two parts of a placed buffer, in address
  // order, one right after another. Their sizes add up to the size of the buffer.
  std::vector<BufferPart> parts = {};
  // The region that holds a buffer without placement. nullopt means Machine::constants for a constant, otherwise memory
  // that every worker can address.
  std::optional<RegionId> home = std::nullopt;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// The place of a value.
struct ValuePlace {
  BufferId buffer;
  Offset offset;  // in the buffer; offset + size of the tensor <= size of the buffer
  friend bool operator==(const ValuePlace&, const ValuePlace&) = default;
};

// The plan of a body. Region 0 of this plan begins at `offset` in the scratch buffer of the step that runs the body.
// The branches of an If share bytes, because only one of them runs.
struct BodyPlan {
  std::string body;  // Body::name
  Offset offset;
  std::shared_ptr<const Plan> plan;
};

// The bytes that a step needs in addition to its values.
struct StepSpace {
  std::optional<BufferId> scratch;
  std::vector<BodyPlan> bodies;  // of a compute step: one per body of the node, in the order of Node::bodies
};

// The places of all values and scratch buffers. Plain data.
struct Layout {
  std::vector<Bytes> arena;  // by RegionId: the highest end address of a buffer in the region
  IdVector<BufferId, Buffer> buffers;
  IdVector<ValueId, ValuePlace> values;
  IdVector<StepId, StepSpace> steps;
};

// Calls function(bytes within the buffer, lifespan) for each part, or once if the buffer has no parts.
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

// The bytes of a buffer that are live in a step. O(parts).
[[nodiscard]] Bytes living_bytes(const Buffer& buffer, StepId step);

// The sum of the arenas of all regions that a worker can address.
[[nodiscard]] Bytes arena_bytes(const Machine& machine, const Layout& layout);
// The bytes of the other regions, which only links reach (is_outside).
[[nodiscard]] Bytes outside_bytes(const Machine& machine, const Layout& layout);

}  // namespace lowtide
