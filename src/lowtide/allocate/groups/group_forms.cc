// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/groups/group_forms.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace lowtide::allocate_internal {
namespace {

using Parts = std::vector<TimeSpan>;

// When at least one of them lives; sorted, with a gap between neighbours.
Parts united_parts(const PackingProblem& problem, std::span<const PackingId> ids) {
  Parts parts;
  for (PackingId id : ids) {
    const PackingBuffer& buffer = problem.buffers[id];
    if (buffer.size == Bytes(0)) continue;
    std::int64_t from = buffer.lifespan.begin;
    for (const TimeSpan& gap : buffer.gaps) {
      if (gap.empty()) continue;
      if (from < gap.begin) parts.push_back({from, gap.begin});
      from = gap.end;
    }
    if (from < buffer.lifespan.end) parts.push_back({from, buffer.lifespan.end});
  }
  std::sort(parts.begin(), parts.end());
  Parts united;
  for (const TimeSpan& part : parts) {
    if (united.empty() || united.back().end < part.begin) {
      united.push_back(part);
    } else {
      united.back().end = std::max(united.back().end, part.end);
    }
  }
  return united;
}

// Lifespan and gaps of a buffer that lives as its holders do; one that never lives rests all its life.
PackingBuffer living(const PackingProblem& problem, std::span<const PackingId> holders) {
  if (problem.conflicts) return {.lifespan = {0, 1}, .gaps = {}, .size = Bytes(0)};
  const Parts parts = united_parts(problem, holders);
  if (parts.empty()) return {.lifespan = {0, 1}, .gaps = {{0, 1}}, .size = Bytes(0)};
  PackingBuffer buffer{.lifespan = {parts.front().begin, parts.back().end}, .gaps = {}, .size = Bytes(0)};
  for (std::size_t at = 1; at < parts.size(); ++at) buffer.gaps.push_back({parts[at - 1].end, parts[at].begin});
  return buffer;
}

// New buffers stand for old ones: none, one or several for each.
class Rewriting {
 public:
  explicit Rewriting(const PackingProblem& problem) : problem_(problem), new_ids_(problem.buffers.size()) {
    out_.capacity = problem.capacity;
  }

  PackingId add(const PackingBuffer& buffer, std::span<const PackingId> holders) {
    const PackingId id = out_.buffers.push_back(buffer);
    for (PackingId holder : holders) {
      if (problem_.buffers[holder].size > Bytes(0)) new_ids_[holder].push_back(id);
    }
    return id;
  }

  void add_pieces(const BufferGroups& groups, std::uint32_t group, std::optional<std::int64_t> base) {
    for (const GroupPiece& piece : pieces_of(problem_, groups, group)) {
      PackingBuffer buffer = living(problem_, piece.holders);
      buffer.size = Bytes(piece.end - piece.begin);
      if (base) buffer.fixed_offset = Offset(*base + piece.begin);
      add(buffer, piece.holders);
    }
  }

  PackingProblem finish(const BufferGroups& groups) && {
    if (problem_.conflicts) out_.conflicts = rewritten(*problem_.conflicts, groups);
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::vector<PackingPair> rewritten(const std::vector<PackingPair>& pairs,
                                                   const BufferGroups& groups) const {
    std::vector<PackingPair> out;
    for (const PackingPair& pair : pairs) {
      if (groups.group[pair.first] == groups.group[pair.second]) continue;
      for (PackingId first : new_ids_[pair.first]) {
        for (PackingId second : new_ids_[pair.second])
          out.push_back({std::min(first, second), std::max(first, second)});
      }
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  const PackingProblem& problem_;
  PackingProblem out_;
  IdVector<PackingId, std::vector<PackingId>> new_ids_;
};

// The pairs of each buffer, in both directions.
IdVector<PackingId, std::vector<PackingId>> partners_of(const PackingProblem& problem) {
  IdVector<PackingId, std::vector<PackingId>> partners(problem.buffers.size());
  const auto add = [&](const PackingPair& pair) {
    partners[pair.first].push_back(pair.second);
    partners[pair.second].push_back(pair.first);
  };
  if (problem.conflicts) std::for_each(problem.conflicts->begin(), problem.conflicts->end(), add);
  return partners;
}

// Whether the members that are as large as the group stand for the others too.
bool is_filled(const PackingProblem& problem, const BufferGroups& groups, std::uint32_t group,
               const IdVector<PackingId, std::vector<PackingId>>& partners) {
  const BufferGroups::Group& self = groups.groups[group];
  if (self.residue != 0) return false;
  std::vector<PackingId> full;
  std::vector<PackingId> of_full;
  std::vector<PackingId> of_others;
  for (PackingId id : groups.members_of(group)) {
    const Bytes size = problem.buffers[id].size;
    const bool is_full = size.count() == self.size;
    if (is_full) full.push_back(id);
    std::vector<PackingId>& out = is_full ? of_full : of_others;
    if (size == Bytes(0)) continue;
    std::copy_if(partners[id].begin(), partners[id].end(), std::back_inserter(out),
                 [&](PackingId other) { return groups.group[other] != group; });
  }
  std::sort(of_full.begin(), of_full.end());
  std::sort(of_others.begin(), of_others.end());
  of_others.erase(std::unique(of_others.begin(), of_others.end()), of_others.end());
  of_full.erase(std::unique(of_full.begin(), of_full.end()), of_full.end());
  if (!std::includes(of_full.begin(), of_full.end(), of_others.begin(), of_others.end())) return false;
  return problem.conflicts || united_parts(problem, full) == united_parts(problem, groups.members_of(group));
}

}  // namespace

GroupBlocks blocks_of(const PackingProblem& problem, const BufferGroups& groups) {
  GroupBlocks out;
  out.block = IdVector<PackingId, std::optional<PackingId>>(problem.buffers.size());
  out.shift = groups.shift;
  Rewriting rewriting(problem);
  const IdVector<PackingId, std::vector<PackingId>> partners = partners_of(problem);
  for (std::uint32_t at = 0; at < groups.groups.size(); ++at) {
    const BufferGroups::Group& group = groups.groups[at];
    const std::span<const PackingId> members = groups.members_of(at);
    if (group.fixed_base) {
      rewriting.add_pieces(groups, at, group.fixed_base);
      for (PackingId id : members) out.shift[id] += *group.fixed_base;
      continue;
    }
    PackingBuffer buffer = group.count == 1 ? problem.buffers[members.front()] : living(problem, members);
    // Bytes below the base bring it to a multiple of the alignment.
    buffer.size = Bytes(group.residue + group.size);
    buffer.alignment = Bytes(group.alignment);
    const PackingId block = rewriting.add(buffer, members);
    for (PackingId id : members) {
      out.block[id] = block;
      out.shift[id] += group.residue;
    }
    if (group.count > 1) out.is_exact = out.is_exact && is_filled(problem, groups, at, partners);
  }
  out.problem = std::move(rewriting).finish(groups);
  return out;
}

PackingProblem loosened(const PackingProblem& problem, const BufferGroups& groups) {
  Rewriting rewriting(problem);
  for (std::uint32_t at = 0; at < groups.groups.size(); ++at) {
    const std::span<const PackingId> members = groups.members_of(at);
    if (groups.groups[at].count == 1) {
      rewriting.add(problem.buffers[members.front()], members);
    } else {
      rewriting.add_pieces(groups, at, groups.groups[at].fixed_base);
    }
  }
  return std::move(rewriting).finish(groups);
}

IdVector<PackingId, Offset> offsets_of_members(const GroupBlocks& blocks, const IdVector<PackingId, Offset>& offsets) {
  IdVector<PackingId, Offset> out;
  out.reserve(blocks.block.size());
  for (PackingId id : all_ids<PackingId>(blocks.block.size())) {
    const std::optional<PackingId> block = blocks.block[id];
    out.push_back(Offset((block ? offsets[*block].position() : 0) + blocks.shift[id]));
  }
  return out;
}

}  // namespace lowtide::allocate_internal
