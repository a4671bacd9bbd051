// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/allocate/problem/groups.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Two forms of a problem with groups as a problem without, which every strategy can solve. The members of a group
// occupy something in between:
//
//   members             block: too much            pieces: too little
//       y +---+         +-------+                      +---+
//     +---++--+         |       |                      +---+  each may lie anywhere
//   x |    |            |       |                  +----+
//     +----+            +-------+                  +----+
//
// Block: a group is one buffer, as large as its members together, and live while one of them is. A packing of the
// blocks is a packing of the members. Pieces: each range of bytes is a buffer that is live while one of its holders is,
// and free of the other pieces. A packing of the members is a packing of the pieces, so a bound of the pieces is a
// bound of the members.
struct GroupBlocks {
  PackingProblem problem;
  IdVector<PackingId, std::optional<PackingId>> block;  // of each buffer; nullopt if its group is fixed
  IdVector<PackingId, std::int64_t> shift;              // from the offset of the block; from 0 if the group is fixed
  // Nothing is lost by blocks: every group has a member that is as large as the whole group and is in conflict with
  // each buffer that another member is in conflict with, and there is no padding below it.
  bool is_exact = true;
};

// The block form. A fixed group becomes fixed pieces, which is exact.
// Requires: `groups` is of the problem, which is valid.
[[nodiscard]] GroupBlocks blocks_of(const PackingProblem& problem, const BufferGroups& groups);

// The piece form. Buffers without a group stay as they are. The order of the new buffers is that of the groups, and of
// the pieces within each group.
[[nodiscard]] PackingProblem loosened(const PackingProblem& problem, const BufferGroups& groups);

// The offsets of the buffers, from the offsets of the blocks.
[[nodiscard]] IdVector<PackingId, Offset> offsets_of_members(const GroupBlocks& blocks,
                                                             const IdVector<PackingId, Offset>& offsets);

}  // namespace lowtide::allocate_internal
