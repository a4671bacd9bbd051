// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// The groups that `PackingProblem::together` makes, each a rigid block: one number, its base, places all its members. A
// buffer that no pair names is a group of its own.
//
//       y  +----+ 12            together = {x, y, 8}, {x, z, 2}: base = offset of x,
//   x +----+    |    z          shifts 0, 8, 2; size 12
//     |    |    | +----+ 6
//   0 +----+  8 +-+----+ 2
struct BufferGroups {
  struct Group {
    std::uint32_t first = 0;  // index into `members`
    std::uint32_t count = 0;
    std::int64_t size = 0;                   // from the base to the highest end of a member
    std::int64_t alignment = 1;              // base = residue, modulo alignment: exactly then every member is aligned
    std::int64_t residue = 0;                // >= 0, < alignment; so also the lowest base there is
    std::optional<std::int64_t> fixed_base;  // if a member is fixed
  };
  std::vector<Group> groups;                 // by the lowest id of a member
  std::vector<PackingId> members;            // of one group after another; by id within each
  IdVector<PackingId, std::uint32_t> group;  // of each buffer
  IdVector<PackingId, std::int64_t> shift;   // of its offset from the base; the least of a group is 0

  [[nodiscard]] std::span<const PackingId> members_of(std::uint32_t at) const {
    return {members.data() + groups[at].first, groups[at].count};
  }
};

// Require: buffers and pairs are each what packing.h says (validate.h looks at them first).
// Errors: invalid, if two pairs disagree, or a pair and two fixed offsets, or if no base suits the alignments or the
// floor; over_limit, for a member that would end above limits::kMaxTotalBytes. They name the buffers. O(buffers +
// pairs).
[[nodiscard]] Result<BufferGroups> group_buffers(const PackingProblem& problem);

// Ranges of bytes of one group between which nothing changes: every member holds all bytes of a piece or none.
struct GroupPiece {
  std::int64_t begin = 0;  // from the base
  std::int64_t end = 0;
  std::vector<PackingId> holders;  // never empty; members with bytes
};

// By begin. O(members log members + holders).
[[nodiscard]] std::vector<GroupPiece> pieces_of(const PackingProblem& problem, const BufferGroups& groups,
                                                std::uint32_t group);

// How many pieces hold each buffer, without making them: 0 without bytes, 1 in a group of one.
// O(members log members).
[[nodiscard]] IdVector<PackingId, std::uint32_t> count_pieces(const PackingProblem& problem,
                                                              const BufferGroups& groups);

}  // namespace lowtide::allocate_internal
