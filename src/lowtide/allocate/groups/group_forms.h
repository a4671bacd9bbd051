// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/allocate/problem/groups.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Two ways to turn a problem with groups into one without groups, which every strategy can solve. What the members of a
// group really occupy lies between the two:
//
//   members             block: too much            pieces: too little
//       y +---+         +-------+                      +---+
//     +---++--+         |       |                      +---+  each moves freely
//   x |    |            |       |                  +----+
//     +----+            +-------+                  +----+
//
// Block: a group is one buffer, as large as its members together, and live while one of them is. A packing of the
// blocks is a packing of the members. Pieces: each range of bytes is a buffer that is live while one of its holders is.
// It can move independently of the other pieces. A packing of the members is a packing of the pieces, so a bound of the
// pieces is a bound of the members.
struct GroupBlocks {
  PackingProblem problem;
  IdVector<PackingId, std::optional<PackingId>> block;  // of each buffer; nullopt if its group is fixed
  IdVector<PackingId, std::int64_t> shift;              // from the offset of the block; from 0 if the group is fixed
  // True if the blocks lose nothing. Then the members that are as large as their group have all conflicts of the group,
  // and there is no padding below them.
  bool is_exact = true;
};

// The block form. A fixed group becomes fixed pieces, which is exact.
// Requires: the problem is valid, and `groups` are its groups.
[[nodiscard]] GroupBlocks blocks_of(const PackingProblem& problem, const BufferGroups& groups);

// The piece form. Buffers without a group stay as they are. The new buffers are in the order of the groups, and
// within a group in the order of its pieces.
[[nodiscard]] PackingProblem loosened(const PackingProblem& problem, const BufferGroups& groups);

// The offsets of the buffers, from the offsets of the blocks.
[[nodiscard]] IdVector<PackingId, Offset> offsets_of_members(const GroupBlocks& blocks,
                                                             const IdVector<PackingId, Offset>& offsets);

}  // namespace lowtide::allocate_internal
