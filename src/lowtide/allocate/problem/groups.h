// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

using GroupId = Id<struct GroupTag>;

// The groups that the colocations of a problem make. A group is a rigid block: one number, its base, gives the offsets
// of all its members. A buffer that no colocation names is a group of its own.
//
//       y  +----+ 12            colocations = {x, y, 8}, {x, z, 2}: the base is the offset of x,
//   x +----+    |    z          the shifts are 0, 8 and 2, and the size is 12
//     |    |    | +----+ 6
//   0 +----+  8 +-+----+ 2
struct BufferGroups {
  struct Group {
    std::uint32_t first = 0;  // index into `members`
    std::uint32_t count = 0;
    std::int64_t size = 0;                   // from the base to the highest end of a member
    std::int64_t alignment = 1;              // every member is aligned exactly if base = residue, modulo alignment
    std::int64_t residue = 0;                // 0 <= residue < alignment; also the lowest base
    std::optional<std::int64_t> fixed_base;  // if a member has a fixed offset
  };
  IdVector<GroupId, Group> groups;          // sorted by the lowest id of a member
  std::vector<PackingId> members;           // of one group after another; sorted by id within each
  IdVector<PackingId, GroupId> group;       // of each buffer
  IdVector<PackingId, std::int64_t> shift;  // from the base of the group to the offset of the buffer; >= 0

  [[nodiscard]] std::span<const PackingId> members_of(GroupId id) const {
    return {members.data() + groups[id].first, groups[id].count};
  }
};

// Requires: each buffer and each colocation by itself is valid (validate.h checks this first).
// Errors: invalid, if colocations contradict each other or the fixed offsets, or if no base suits all alignments;
// over_limit, for a member that would end above limits::kMaxTotalBytes. Messages name the buffers.
// O(buffers + colocations).
[[nodiscard]] Result<BufferGroups> group_buffers(const PackingProblem& problem);

// A range of bytes of one group that each member either holds as a whole or not at all.
struct GroupPiece {
  std::int64_t begin = 0;  // from the base
  std::int64_t end = 0;
  std::vector<PackingId> holders;  // members with bytes; never empty
};

// The pieces of a group, by begin. O(members log members + holders).
[[nodiscard]] std::vector<GroupPiece> pieces_of(const PackingProblem& problem, const BufferGroups& groups,
                                                GroupId group);

// The number of pieces that each buffer holds: 0 without bytes, 1 in a group of one. Makes no piece.
// O(members log members).
[[nodiscard]] IdVector<PackingId, std::uint32_t> count_pieces(const PackingProblem& problem,
                                                              const BufferGroups& groups);

}  // namespace lowtide::allocate_internal
