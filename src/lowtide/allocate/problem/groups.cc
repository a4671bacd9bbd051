// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/groups.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "lowtide/allocate/problem/describe_buffer.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();

// `other` lies `delta` above; negative: below.
struct Link {
  PackingId other;
  std::int64_t delta = 0;
};

// The links of each buffer, in both directions.
class Links {
 public:
  explicit Links(const PackingProblem& problem) : first_(problem.buffers.size() + 1, 0) {
    for (const PackingTogether& pair : problem.together) {
      ++first_[pair.first.index() + 1];
      ++first_[pair.second.index() + 1];
    }
    for (std::size_t at = 1; at < first_.size(); ++at) first_[at] += first_[at - 1];
    links_.resize(2 * problem.together.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const PackingTogether& pair : problem.together) {
      links_[next[pair.first.index()]++] = {pair.second, pair.delta.count()};
      links_[next[pair.second.index()]++] = {pair.first, -pair.delta.count()};
    }
  }
  [[nodiscard]] std::span<const Link> of(PackingId id) const {
    return {links_.data() + first_[id.index()], first_[id.index() + 1] - first_[id.index()]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<Link> links_;
};

Error invalid_link(const PackingProblem& problem, PackingId buffer, std::string message) {
  return Error{ErrorCode::invalid, std::move(message), describe_buffer(problem, buffer)};
}

class Grouping {
 public:
  explicit Grouping(const PackingProblem& problem) : problem_(problem), links_(problem) {
    out_.group = IdVector<PackingId, std::uint32_t>(problem.buffers.size(), kNoGroup);
    out_.shift = IdVector<PackingId, std::int64_t>(problem.buffers.size(), 0);
    out_.members.reserve(problem.buffers.size());
  }

  Result<BufferGroups> run() && {
    for (PackingId id : all_ids<PackingId>(problem_.buffers.size())) {
      if (out_.group[id] != kNoGroup) continue;
      out_.groups.push_back({.first = static_cast<std::uint32_t>(out_.members.size())});
      LOWTIDE_RETURN_IF_ERROR(gather(id));
      LOWTIDE_RETURN_IF_ERROR(normalise());
      LOWTIDE_RETURN_IF_ERROR(fix());
      LOWTIDE_RETURN_IF_ERROR(align());
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::uint32_t now() const { return static_cast<std::uint32_t>(out_.groups.size() - 1); }
  [[nodiscard]] std::span<const PackingId> members() const { return out_.members_of(now()); }

  // All buffers that pairs join to `root`, and how far above or below it each lies.
  Result<void> gather(PackingId root) {
    BufferGroups::Group& group = out_.groups.back();
    out_.members.push_back(root);
    out_.group[root] = now();
    for (std::size_t at = group.first; at < out_.members.size(); ++at) {
      const PackingId id = out_.members[at];
      for (const Link& link : links_.of(id)) {
        const std::int64_t shift = out_.shift[id] + link.delta;  // both below 2^62
        if (shift > limits::kMaxTotalBytes || shift < -limits::kMaxTotalBytes) {
          return Error{ErrorCode::over_limit,
                       "the pairs in `together` put it more than kMaxTotalBytes = " +
                           std::to_string(limits::kMaxTotalBytes) + " bytes from " + describe_buffer(problem_, root),
                       describe_buffer(problem_, link.other)};
        }
        if (out_.group[link.other] == kNoGroup) {
          out_.group[link.other] = now();
          out_.shift[link.other] = shift;
          out_.members.push_back(link.other);
        } else if (out_.shift[link.other] != shift) {
          return invalid_link(problem_, link.other,
                         "the pairs in `together` put it at " +
                             std::to_string(out_.shift[link.other] - out_.shift[id]) + " and at " +
                             std::to_string(link.delta) + " bytes from " + describe_buffer(problem_, id) +
                             "; leave one of them out");
        }
      }
    }
    group.count = static_cast<std::uint32_t>(out_.members.size()) - group.first;
    std::sort(out_.members.begin() + group.first, out_.members.end());
    return {};
  }

  Result<void> normalise() {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    for (PackingId id : members()) lowest = std::min(lowest, out_.shift[id]);
    BufferGroups::Group& group = out_.groups.back();
    for (PackingId id : members()) {
      out_.shift[id] -= lowest;  // at most 2^63 - 2
      const std::optional<std::int64_t> end = checked_add(out_.shift[id], problem_.buffers[id].size.count());
      if (!end || *end > limits::kMaxTotalBytes) {
        return Error{
            ErrorCode::over_limit,
            "its group in `together` is larger than kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes),
            describe_buffer(problem_, id)};
      }
      group.size = std::max(group.size, *end);
    }
    return {};
  }

  Result<void> fix() {
    BufferGroups::Group& group = out_.groups.back();
    std::optional<PackingId> first;
    for (PackingId id : members()) {
      if (!problem_.buffers[id].fixed_offset) continue;
      const std::int64_t base = problem_.buffers[id].fixed_offset->position() - out_.shift[id];
      if (first && base != *group.fixed_base) {
        return invalid_link(problem_, id,
                       "it is fixed at " + std::to_string(problem_.buffers[id].fixed_offset->position()) + ", but " +
                           describe_buffer(problem_, *first) + " is fixed at " +
                           std::to_string(problem_.buffers[*first].fixed_offset->position()) +
                           ", and so `together` puts it at " + std::to_string(*group.fixed_base + out_.shift[id]));
      }
      group.fixed_base = base;
      first = id;
    }
    if (!first) return {};
    const auto because = [&] {
      return ", because `together` joins it to " + describe_buffer(problem_, *first) + ", fixed at " +
             std::to_string(problem_.buffers[*first].fixed_offset->position());
    };
    for (PackingId id : members()) {
      const std::int64_t offset = *group.fixed_base + out_.shift[id];
      const std::int64_t alignment = problem_.buffers[id].alignment.count();
      if (offset < 0)
        return invalid_link(problem_, id, "it would be at " + std::to_string(offset) + ", below 0" + because());
      if (offset % alignment != 0) {
        return invalid_link(problem_, id,
                       "it would be at " + std::to_string(offset) + ", not a multiple of its alignment " +
                           std::to_string(alignment) + because());
      }
      const std::optional<std::int64_t> end = checked_add(offset, problem_.buffers[id].size.count());
      if (!end || *end > limits::kMaxTotalBytes) {
        return Error{ErrorCode::over_limit,
                     "it would end above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes) + because(),
                     describe_buffer(problem_, id)};
      }
    }
    return {};
  }

  // The member with the largest alignment says which bases there are; the others agree with one of them or with none,
  // since their alignments divide it.
  Result<void> align() {
    BufferGroups::Group& group = out_.groups.back();
    const PackingId strictest = *std::max_element(members().begin(), members().end(), [&](PackingId a, PackingId b) {
      return problem_.buffers[a].alignment < problem_.buffers[b].alignment;
    });
    group.alignment = problem_.buffers[strictest].alignment.count();
    group.residue = -out_.shift[strictest] & (group.alignment - 1);
    for (PackingId id : members()) {
      const std::int64_t alignment = problem_.buffers[id].alignment.count();
      if (((group.residue + out_.shift[id]) & (alignment - 1)) == 0) continue;
      return invalid_link(problem_, id,
                     "`together` puts it " + std::to_string(out_.shift[id] - out_.shift[strictest]) + " bytes from " +
                         describe_buffer(problem_, strictest) + "; with alignments of " + std::to_string(alignment) +
                         " and " + std::to_string(group.alignment) + " no offsets suit both");
    }
    return {};
  }

  const PackingProblem& problem_;
  const Links links_;
  BufferGroups out_;
};

struct Edge {
  std::int64_t at = 0;
  bool begins = false;
  PackingId id;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

std::vector<Edge> edges_of(const PackingProblem& problem, const BufferGroups& groups, std::uint32_t group) {
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

std::vector<GroupPiece> pieces_of(const PackingProblem& problem, const BufferGroups& groups, std::uint32_t group) {
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
  for (std::uint32_t group = 0; group < groups.groups.size(); ++group) {
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
