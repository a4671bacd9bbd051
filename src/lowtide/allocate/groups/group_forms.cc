// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/groups/group_forms.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/active_spans.h"
#include "lowtide/allocate/problem/id_lists.h"
#include "lowtide/allocate/problem/join_touching.h"

namespace lowtide::allocate_internal {
namespace {

// The times at which at least one of these buffers has live bytes; sorted, with a gap between neighbours.
std::vector<TimeSpan> united_spans(const PackingProblem& problem, std::span<const PackingId> ids) {
  std::vector<TimeSpan> spans;
  for (PackingId id : ids) {
    if (problem.buffers[id].size == Bytes(0)) continue;
    for_each_active_span(problem.buffers[id], [&](const TimeSpan& span) { spans.push_back(span); });
  }
  join_touching(spans);
  return spans;
}

// A buffer of 0 bytes that is active when one of its holders is. Without any active time, one gap covers its lifespan.
PackingBuffer active_with(const PackingProblem& problem, std::span<const PackingId> holders) {
  if (problem.conflicts) return {.lifespan = {0, 1}, .gaps = {}, .size = Bytes(0)};
  const std::vector<TimeSpan> spans = united_spans(problem, holders);
  if (spans.empty()) return {.lifespan = {0, 1}, .gaps = {{0, 1}}, .size = Bytes(0)};
  PackingBuffer buffer{.lifespan = {spans.front().begin, spans.back().end}, .gaps = {}, .size = Bytes(0)};
  for (std::size_t at = 1; at < spans.size(); ++at) buffer.gaps.push_back({spans[at - 1].end, spans[at].begin});
  return buffer;
}

// Builds a problem whose buffers represent those of another one. Each old buffer may have none, one or several new
// ones.
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

  void add_pieces(const BufferGroups& groups, GroupId group) {
    const std::optional<std::int64_t> base = groups.groups[group].fixed_base;
    for (const GroupPiece& piece : pieces_of(problem_, groups, group)) {
      PackingBuffer buffer = active_with(problem_, piece.holders);
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
        for (PackingId second : new_ids_[pair.second]) {
          out.push_back({std::min(first, second), std::max(first, second)});
        }
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

using Partners = IdLists<PackingId, PackingId>;

// The buffers that the relation puts in conflict with each buffer.
Partners partners_of(const PackingProblem& problem) {
  return Partners(problem.buffers.size(), [&](const auto& visit) {
    if (!problem.conflicts) return;
    for (const PackingPair& pair : *problem.conflicts) {
      visit(pair.first, pair.second);
      visit(pair.second, pair.first);
    }
  });
}

// Whether the group loses nothing as a block (GroupBlocks::is_exact).
bool is_exact_as_block(const PackingProblem& problem, const BufferGroups& groups, GroupId group,
                       const Partners& partners) {
  const BufferGroups::Group& self = groups.groups[group];
  if (self.residue != 0) return false;
  std::vector<PackingId> full;
  std::vector<PackingId> of_full;
  std::vector<PackingId> of_others;
  for (PackingId id : groups.members_of(group)) {
    const Bytes size = problem.buffers[id].size;
    const bool is_full = size.count() == self.size;
    if (is_full) full.push_back(id);
    if (size == Bytes(0)) continue;
    std::copy_if(partners[id].begin(), partners[id].end(), std::back_inserter(is_full ? of_full : of_others),
                 [&](PackingId other) { return groups.group[other] != group; });
  }
  for (std::vector<PackingId>* list : {&of_full, &of_others}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  if (!std::includes(of_full.begin(), of_full.end(), of_others.begin(), of_others.end())) return false;
  return problem.conflicts || united_spans(problem, full) == united_spans(problem, groups.members_of(group));
}

}  // namespace

GroupBlocks blocks_of(const PackingProblem& problem, const BufferGroups& groups) {
  GroupBlocks out;
  out.block = IdVector<PackingId, std::optional<PackingId>>(problem.buffers.size());
  out.shift = groups.shift;
  Rewriting rewriting(problem);
  const Partners partners = partners_of(problem);
  for (GroupId at : all_ids<GroupId>(groups.groups.size())) {
    const BufferGroups::Group& group = groups.groups[at];
    const std::span<const PackingId> members = groups.members_of(at);
    if (group.fixed_base) {
      rewriting.add_pieces(groups, at);
      for (PackingId id : members) out.shift[id] += *group.fixed_base;
      continue;
    }
    PackingBuffer buffer = group.count == 1 ? problem.buffers[members.front()] : active_with(problem, members);
    // The block begins `residue` bytes below the base, at a multiple of the alignment.
    buffer.size = Bytes(group.residue + group.size);
    buffer.alignment = Bytes(group.alignment);
    const PackingId block = rewriting.add(buffer, members);
    for (PackingId id : members) {
      out.block[id] = block;
      out.shift[id] += group.residue;
    }
    if (group.count > 1) out.is_exact = out.is_exact && is_exact_as_block(problem, groups, at, partners);
  }
  out.problem = std::move(rewriting).finish(groups);
  return out;
}

PackingProblem loosened(const PackingProblem& problem, const BufferGroups& groups) {
  Rewriting rewriting(problem);
  for (GroupId at : all_ids<GroupId>(groups.groups.size())) {
    const std::span<const PackingId> members = groups.members_of(at);
    if (groups.groups[at].count == 1) {
      rewriting.add(problem.buffers[members.front()], members);
    } else {
      rewriting.add_pieces(groups, at);
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
