// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/groups.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "lowtide/allocate/problem/describe_buffer.h"
#include "lowtide/allocate/problem/id_lists.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/limits.h"

namespace lowtide::allocate_internal {
namespace {

// A colocation, stored at one of its two buffers.
struct Link {
  PackingId other;
  std::int64_t delta = 0;  // from this buffer up to `other`; may be negative
};

IdLists<PackingId, Link> links_of(const PackingProblem& problem) {
  return IdLists<PackingId, Link>(problem.buffers.size(), [&](const auto& visit) {
    for (const PackingColocation& pair : problem.colocations) {
      visit(pair.first, Link{pair.second, pair.delta.count()});
      visit(pair.second, Link{pair.first, -pair.delta.count()});
    }
  });
}

class Grouping {
 public:
  explicit Grouping(const PackingProblem& problem)
      : problem_(problem), links_(links_of(problem)), is_grouped_(problem.buffers.size()) {
    out_.group = IdVector<PackingId, GroupId>(problem.buffers.size());
    out_.shift = IdVector<PackingId, std::int64_t>(problem.buffers.size(), 0);
    out_.members.reserve(problem.buffers.size());
  }

  Result<BufferGroups> run() && {
    for (PackingId id : all_ids<PackingId>(problem_.buffers.size())) {
      if (is_grouped_.test(id)) continue;
      now_ = out_.groups.push_back({.first = static_cast<std::uint32_t>(out_.members.size())});
      LOWTIDE_RETURN_IF_ERROR(gather(id));
      LOWTIDE_RETURN_IF_ERROR(shift_to_base());
      LOWTIDE_RETURN_IF_ERROR(fix());
      LOWTIDE_RETURN_IF_ERROR(align());
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] BufferGroups::Group& group() { return out_.groups[now_]; }
  [[nodiscard]] std::span<const PackingId> members() const { return out_.members_of(now_); }
  [[nodiscard]] std::int64_t alignment_of(PackingId id) const { return problem_.buffers[id].alignment.count(); }
  [[nodiscard]] Error error(ErrorCode code, PackingId buffer, std::string message) const {
    return Error{code, std::move(message), describe_buffer(problem_, buffer)};
  }
  void add_member(PackingId id, std::int64_t shift) {
    is_grouped_.set(id);
    out_.group[id] = now_;
    out_.shift[id] = shift;
    out_.members.push_back(id);
  }

  // Collects all buffers that colocations join to `root`, with their distances from it.
  Result<void> gather(PackingId root) {
    add_member(root, 0);
    for (std::size_t at = group().first; at < out_.members.size(); ++at) {
      const PackingId id = out_.members[at];
      for (const Link& link : links_[id]) {
        const std::int64_t shift = out_.shift[id] + link.delta;  // both below 2^62
        if (shift > limits::kMaxTotalBytes || shift < -limits::kMaxTotalBytes) {
          return error(ErrorCode::over_limit, link.other,
                       "colocations put it more than kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes) +
                           " bytes from " + describe_buffer(problem_, root));
        }
        if (!is_grouped_.test(link.other)) {
          add_member(link.other, shift);
        } else if (out_.shift[link.other] != shift) {
          return error(ErrorCode::invalid, link.other,
                       "colocations put it both " + std::to_string(out_.shift[link.other] - out_.shift[id]) + " and " +
                           std::to_string(link.delta) + " bytes from " + describe_buffer(problem_, id) +
                           "; remove one of them");
        }
      }
    }
    group().count = static_cast<std::uint32_t>(out_.members.size()) - group().first;
    std::sort(out_.members.begin() + group().first, out_.members.end());
    return {};
  }

  // Makes the shifts relative to the lowest member, and sets the size.
  Result<void> shift_to_base() {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    for (PackingId id : members()) lowest = std::min(lowest, out_.shift[id]);
    for (PackingId id : members()) {
      out_.shift[id] -= lowest;  // at most 2^63 - 2
      const std::optional<std::int64_t> end = checked_add(out_.shift[id], problem_.buffers[id].size.count());
      if (!end || *end > limits::kMaxTotalBytes) {
        return error(ErrorCode::over_limit, id,
                     "the group that colocations make of it is larger than kMaxTotalBytes = " +
                         std::to_string(limits::kMaxTotalBytes));
      }
      group().size = std::max(group().size, *end);
    }
    return {};
  }

  // Sets the base that the fixed offsets of members require. Checks that all of them require the same one.
  Result<void> fix() {
    std::optional<PackingId> first;
    for (PackingId id : members()) {
      if (!problem_.buffers[id].fixed_offset) continue;
      const std::int64_t offset = problem_.buffers[id].fixed_offset->position();
      const std::int64_t base = offset - out_.shift[id];
      if (first && base != *group().fixed_base) {
        return error(ErrorCode::invalid, id,
                     "it is fixed at " + std::to_string(offset) + ", but colocations put it at " +
                         std::to_string(*group().fixed_base + out_.shift[id]) + because_of(*first));
      }
      group().fixed_base = base;
      first = id;
    }
    return first ? check_fixed(*first) : Result<void>{};
  }

  [[nodiscard]] std::string because_of(PackingId fixed) const {
    return ", because " + describe_buffer(problem_, fixed) + " is fixed at " +
           std::to_string(problem_.buffers[fixed].fixed_offset->position());
  }

  Result<void> check_fixed(PackingId first) {
    for (PackingId id : members()) {
      const std::int64_t offset = *group().fixed_base + out_.shift[id];
      const std::string put = "colocations put it at " + std::to_string(offset);
      if (offset < 0) return error(ErrorCode::invalid, id, put + ", which is below 0" + because_of(first));
      if (offset % alignment_of(id) != 0) {
        return error(
            ErrorCode::invalid, id,
            put + ", which is not a multiple of its alignment " + std::to_string(alignment_of(id)) + because_of(first));
      }
      const std::optional<std::int64_t> end = checked_add(offset, problem_.buffers[id].size.count());
      if (!end || *end > limits::kMaxTotalBytes) {
        return error(
            ErrorCode::over_limit, id,
            put + ", so it ends above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes) + because_of(first));
      }
    }
    return {};
  }

  // The member with the largest alignment determines the residue. The alignments of the other members divide it, so
  // each of them is aligned at all of these bases or at none.
  Result<void> align() {
    const PackingId strictest = *std::max_element(members().begin(), members().end(), [&](PackingId a, PackingId b) {
      return alignment_of(a) < alignment_of(b);
    });
    group().alignment = alignment_of(strictest);
    group().residue = -out_.shift[strictest] & (group().alignment - 1);
    for (PackingId id : members()) {
      if (((group().residue + out_.shift[id]) & (alignment_of(id) - 1)) == 0) continue;
      return error(ErrorCode::invalid, id,
                   "colocations put it " + std::to_string(out_.shift[id] - out_.shift[strictest]) + " bytes from " +
                       describe_buffer(problem_, strictest) + ", and no offsets suit both of their alignments, " +
                       std::to_string(alignment_of(id)) + " and " + std::to_string(group().alignment));
    }
    return {};
  }

  const PackingProblem& problem_;
  const IdLists<PackingId, Link> links_;
  Flags<PackingId> is_grouped_;
  GroupId now_;  // the group that is being made
  BufferGroups out_;
};

// The begin or the end of a member, from the base.
struct Edge {
  std::int64_t at = 0;
  bool begins = false;
  PackingId id;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

std::vector<Edge> edges_of(const PackingProblem& problem, const BufferGroups& groups, GroupId group) {
  std::vector<Edge> edges;
  for (PackingId id : groups.members_of(group)) {
    const std::int64_t size = problem.buffers[id].size.count();
    if (size == 0) continue;
    edges.push_back({groups.shift[id], true, id});
    edges.push_back({groups.shift[id] + size, false, id});
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace

Result<BufferGroups> group_buffers(const PackingProblem& problem) { return Grouping(problem).run(); }

std::vector<GroupPiece> pieces_of(const PackingProblem& problem, const BufferGroups& groups, GroupId group) {
  std::vector<GroupPiece> pieces;
  std::vector<PackingId> holders;
  std::int64_t from = 0;
  for (const Edge& edge : edges_of(problem, groups, group)) {
    if (edge.at > from && !holders.empty()) pieces.push_back({from, edge.at, holders});
    from = edge.at;
    if (edge.begins) {
      holders.push_back(edge.id);
    } else {
      holders.erase(std::find(holders.begin(), holders.end(), edge.id));
    }
  }
  return pieces;
}

IdVector<PackingId, std::uint32_t> count_pieces(const PackingProblem& problem, const BufferGroups& groups) {
  IdVector<PackingId, std::uint32_t> count(problem.buffers.size(), 0);
  std::vector<std::int64_t> edges;
  for (GroupId group : all_ids<GroupId>(groups.groups.size())) {
    edges.clear();
    for (const Edge& edge : edges_of(problem, groups, group)) edges.push_back(edge.at);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto position = [&](std::int64_t at) { return std::lower_bound(edges.begin(), edges.end(), at); };
    for (PackingId id : groups.members_of(group)) {
      const std::int64_t begin = groups.shift[id];
      count[id] = static_cast<std::uint32_t>(position(begin + problem.buffers[id].size.count()) - position(begin));
    }
  }
  return count;
}

}  // namespace lowtide::allocate_internal
