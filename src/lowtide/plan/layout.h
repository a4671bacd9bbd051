// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/plan/machine.h"
#include "lowtide/plan/program.h"

namespace lowtide {

struct Plan;

using BufferId = Id<struct BufferTag>;

// Half-open, in steps of one program. A buffer that lives to the end of the program ends at the number of steps.
//
// With several streams these are positions in the list of steps: from the first step that touches the buffer to before
// the first step that starts only after all of them have ended. Two buffers whose lifespans overlap share no byte. For
// all others, `Step::after` makes sure that nothing writes what is still in use, however fast a stream is.
//
// A program without steps (a branch that returns a constant) has one moment, in which all its buffers live: their
// lifespan is [0, 0).
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
  state,      // holds a state tensor, and what replaces it by the end of the run
  output,     // holds at least one value of Program::outputs: lives to the end of the program
  temporary,  // holds other values
  scratch,    // workspace of one kernel during its step, and the arenas of the bodies it runs; holds no value
};

[[nodiscard]] std::string_view to_string(BufferKind kind);
[[nodiscard]] std::optional<BufferKind> buffer_kind_from_string(std::string_view text);

// A range of bytes of a buffer, and when they are live.
struct BufferPart {
  Bytes size;         // > 0
  Lifespan lifespan;  // within the buffer's; not empty
  friend bool operator==(const BufferPart&, const BufferPart&) = default;
};

// A block of bytes. Buffers of kind input, constant and state have no placement: their bytes belong to the caller, to the
// model or to the runtime, and no other buffer shares them. (In the body of a Loop or Scan the inputs are placed, since
// nothing else holds them; they live through the whole body.)
//
// If several values share a buffer, some of its bytes may be live for a shorter time than others: those of a concat that
// are not written yet, or those of a split that have been read. `parts` says so. Bytes that are not live are free for
// other buffers.
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
  Bytes size;         // bytes reserved; planners round up to the region's alignment, so that sums of sizes are exact
  Lifespan lifespan;  // within the program; not empty, unless the program is
  std::optional<Placement> placement;
  // Empty: all bytes live as long as the buffer. Otherwise at least two, of a placed buffer, in address order without
  // gaps; their sizes add up to the buffer's.
  std::vector<BufferPart> parts = {};
  // For a buffer without placement: the region that holds it. nullopt: memory that every worker can address.
  std::optional<RegionId> home = std::nullopt;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// Where a value's bytes are.
struct ValuePlace {
  BufferId buffer;
  Offset offset;  // in the buffer; offset + size of the tensor <= size of the buffer
  friend bool operator==(const ValuePlace&, const ValuePlace&) = default;
};

// The plan of a graph inside a node. Its offsets count from the scratch buffer of the step: region 0 of the inner plan
// starts at `offset` in it. Branches of an If share bytes, since only one of them runs.
struct BodyPlan {
  std::string body;  // Body::name
  Offset offset;
  std::shared_ptr<const Plan> plan;
};

// What a step occupies besides its values.
struct StepSpace {
  std::optional<BufferId> scratch;
  std::vector<BodyPlan> bodies;  // of a compute step: one per body of the node, in order
};

// Where everything is. Plain data, keyed by what each entry belongs to.
struct Layout {
  std::vector<Bytes> arena;  // by RegionId: the highest end of a buffer in the region
  IdVector<BufferId, Buffer> buffers;
  IdVector<ValueId, ValuePlace> values;
  IdVector<StepId, StepSpace> steps;
};

// Calls function(bytes in the buffer, lifespan) for each part, or once for a buffer without parts.
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

// Bytes of a buffer that are live in a step. O(parts).
[[nodiscard]] Bytes living_bytes(const Buffer& buffer, StepId step);

// Bytes of placed buffers that are live in each step, scratch included; for a program without steps, in its one moment.
// O(steps + buffers + parts).
[[nodiscard]] std::vector<Bytes> load_by_step(const Layout& layout);

// Sum over all regions.
[[nodiscard]] Bytes arena_bytes(const Layout& layout);

}  // namespace lowtide
