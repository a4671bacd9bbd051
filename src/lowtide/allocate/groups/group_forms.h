// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/allocate/problem/groups.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// A problem with groups as one without, so that every strategy can solve it. Two forms, from both sides:
//
//   members             blocks: too much           pieces: too little
//       y +---+         +-------+                      +---+
//     +---++--+         |       |                      +---+  may lie anywhere
//   x |    |            |       |                  +----+
//     +----+            +-------+                  +----+
//
// Blocks: a group is one buffer, as large as its members together, that lives while one of them does. What packs the
// blocks packs the members. Pieces: each range of bytes lives while one of its holders does, and is free of the others.
// What packs the members packs the pieces, so a bound of the pieces holds for the members, whose size changes with
// time.
struct GroupBlocks {
  PackingProblem problem;
  IdVector<PackingId, std::optional<PackingId>> block;  // of each buffer; nullopt if the group is fixed
  IdVector<PackingId, std::int64_t> shift;              // from the block; from 0 if the group is fixed
  // Every group has a member as large as all together which is in conflict with whomever another member is in conflict
  // with (and no padding below it): then nothing is lost.
  bool is_exact = true;
};

// A fixed group becomes fixed pieces, which is exact. Require: `groups` is of the problem, which is valid.
[[nodiscard]] GroupBlocks blocks_of(const PackingProblem& problem, const BufferGroups& groups);

[[nodiscard]] PackingProblem loosened(const PackingProblem& problem, const BufferGroups& groups);

// The offsets of the buffers from those of the blocks.
[[nodiscard]] IdVector<PackingId, Offset> offsets_of_members(const GroupBlocks& blocks,
                                                             const IdVector<PackingId, Offset>& offsets);

}  // namespace lowtide::allocate_internal
