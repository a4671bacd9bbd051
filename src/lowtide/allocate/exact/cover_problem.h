// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/allocate/exact/search_buffer.h"
#include "lowtide/allocate/problem/clique_cover.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/id_lists.h"
#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// A packing problem without time. Each movable buffer is a set of cliques. Fixed buffers are ranges of bytes that are
// blocked in their cliques.
struct CoverProblem {
  using KindId = Id<struct BufferKindTag>;
  struct Buffer {
    std::int64_t size = 0;
    std::int64_t padded_size = 0;  // rounded up to the unit
    std::int64_t alignment = 1;
    KindId kind;  // buffers of one kind are interchangeable: they differ only in their id
    PackingId id;
  };
  IdVector<SearchBuffer, Buffer> buffers;
  std::int64_t unit = 1;  // the smallest alignment, so every offset is a multiple of it
  // Each list is ascending.
  IdLists<CliqueId, SearchBuffer> clique_members;
  IdLists<SearchBuffer, CliqueId> buffer_cliques;
  // Ranges are disjoint, with space between them.
  IdVector<CliqueId, std::vector<AddressRange>> blocked_in;
  IdVector<SearchBuffer, std::vector<AddressRange>> blocked_for;  // in any of its cliques

  [[nodiscard]] std::size_t cliques() const { return clique_members.size(); }
  [[nodiscard]] std::span<const SearchBuffer> members(CliqueId clique) const { return clique_members[clique]; }
  [[nodiscard]] std::span<const CliqueId> cliques_of(SearchBuffer buffer) const { return buffer_cliques[buffer]; }
};

// Requires: `cover` is a clique cover of `problem`.
[[nodiscard]] CoverProblem cover_problem(const CompressedProblem& problem, const CliqueCover& cover);

}  // namespace lowtide::allocate_internal
