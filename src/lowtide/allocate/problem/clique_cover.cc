// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/clique_cover.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

// A participant of the problem, by its rank in size: the largest is 0.
using SizeRank = Id<struct SizeRankTag>;

// A symmetric matrix with a bit for each two ranks.
class PairBits {
 public:
  explicit PairBits(std::size_t count) : words_((count + 63) / 64), bits_(count * words_, 0) {}
  void set(SizeRank a, SizeRank b) {
    row(a)[b.index() / 64] |= std::uint64_t{1} << (b.index() % 64);
    row(b)[a.index() / 64] |= std::uint64_t{1} << (a.index() % 64);
  }
  [[nodiscard]] bool has(SizeRank a, SizeRank b) const {
    return ((bits_[a.index() * words_ + b.index() / 64] >> (b.index() % 64)) & 1U) != 0;
  }
  [[nodiscard]] std::span<std::uint64_t> row(SizeRank a) { return {bits_.data() + a.index() * words_, words_}; }
  [[nodiscard]] std::size_t words() const { return words_; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

std::optional<SizeRank> first_bit(std::span<const std::uint64_t> bits) {
  for (std::size_t word = 0; word < bits.size(); ++word) {
    if (bits[word] == 0) continue;
    return SizeRank(static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits[word])));
  }
  return std::nullopt;
}

class CoverBuilder {
 public:
  CoverBuilder(const CompressedProblem& problem, Effort& effort)
      : problem_(problem), effort_(effort), is_fixed_(problem.buffers.size()) {
    for (const CompressedProblem::FixedBuffer& buffer : problem.fixed) is_fixed_.set(buffer.id);
  }

  std::optional<CliqueCover> run(const ConflictGraph* graph) && {
    if (!add_cliques_of_time()) return std::nullopt;
    if (!problem_.pairs.empty() && !add_cliques_of_pairs(*graph)) return std::nullopt;
    return without_subsets();
  }

 private:
  // Returns false if the cover would become too large, or if the effort ends.
  bool add(std::vector<PackingId> clique) {
    if (std::all_of(clique.begin(), clique.end(), [&](PackingId id) { return is_fixed_.test(id); })) return true;
    const bool is_too_large = cover_.total_members() + clique.size() > tuning::kCoverMostMembers;
    if (is_too_large || effort_.exhausted()) return false;
    effort_.spend(static_cast<std::int64_t>(clique.size()));
    std::sort(clique.begin(), clique.end());
    cover_.append(clique);
    return true;
  }

  // Sweeps over time. Where an end follows a begin, adds the active buffers: no neighbouring moment has all of them.
  bool add_cliques_of_time() {
    struct End {
      Moment moment;
      bool begins;  // false < true: at the same moment ends come first, because spans are half-open
      PackingId id;
    };
    std::vector<End> ends;
    for (PackingId id : problem_.participants()) {
      for (const MomentSpan& span : problem_.spans_of(id)) {
        ends.push_back({span.begin, true, id});
        ends.push_back({span.end, false, id});
      }
    }
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
      return std::tuple(a.moment, a.begins, a.id) < std::tuple(b.moment, b.begins, b.id);
    });
    std::vector<PackingId> active;
    IdVector<PackingId, std::size_t> position(problem_.buffers.size());
    bool has_begun = false;
    for (const End& end : ends) {
      if (end.begins) {
        position[end.id] = active.size();
        active.push_back(end.id);
      } else {
        if (has_begun && !add(active)) return false;
        const std::size_t at = position[end.id];
        active[at] = active.back();
        position[active[at]] = at;
        active.pop_back();
      }
      has_begun = end.begins;
    }
    return true;
  }

  bool add_cliques_of_pairs(const ConflictGraph& graph) {
    std::vector<PackingId> by_size = problem_.participants();
    std::sort(by_size.begin(), by_size.end(), [&](PackingId a, PackingId b) {
      return std::tuple(-problem_.buffers[a].size, a) < std::tuple(-problem_.buffers[b].size, b);
    });
    if (by_size.size() > tuning::kCoverMostPaired) return false;
    IdVector<PackingId, SizeRank> rank(problem_.buffers.size());
    for (SizeRank at : all_ids<SizeRank>(by_size.size())) rank[by_size[at.index()]] = at;
    PairBits conflicts(by_size.size());
    for (PackingId id : by_size) {
      for (PackingId other : graph.neighbours(id)) conflicts.set(rank[id], rank[other]);
    }
    std::vector<std::pair<SizeRank, SizeRank>> pairs;
    pairs.reserve(problem_.pairs.size());
    for (const PackingPair& pair : problem_.pairs) {
      pairs.push_back(std::minmax(rank[pair.first], rank[pair.second]));
    }
    std::sort(pairs.begin(), pairs.end());
    PairBits covered(by_size.size());
    for (const auto& [first, second] : pairs) {
      if (covered.has(first, second)) continue;
      const std::vector<SizeRank> clique = grown(conflicts, first, second);
      std::vector<PackingId> members;
      for (SizeRank at : clique) {
        members.push_back(by_size[at.index()]);
        for (SizeRank other : clique) covered.set(at, other);
      }
      if (!add(std::move(members))) return false;
    }
    return true;
  }

  // A maximal clique with these two. Adds the largest common neighbour, which is the first bit, while there is one.
  std::vector<SizeRank> grown(PairBits& conflicts, SizeRank first, SizeRank second) {
    std::vector<std::uint64_t> common(conflicts.words());
    for (std::size_t word = 0; word < common.size(); ++word) {
      common[word] = conflicts.row(first)[word] & conflicts.row(second)[word];
    }
    std::vector<SizeRank> clique = {first, second};
    while (const std::optional<SizeRank> next = first_bit(common)) {
      clique.push_back(*next);
      for (std::size_t word = 0; word < common.size(); ++word) common[word] &= conflicts.row(*next)[word];
    }
    effort_.spend(static_cast<std::int64_t>(clique.size() * (clique.size() + common.size())) / 8);
    return clique;
  }

  // Leaves out each clique that is a subset of another one. Only the cliques of its rarest member can contain it.
  std::optional<CliqueCover> without_subsets() {
    IdVector<PackingId, std::vector<CliqueId>> cliques_of(problem_.buffers.size());
    for (CliqueId clique : all_ids<CliqueId>(cover_.cliques())) {
      for (PackingId id : cover_.members(clique)) cliques_of[id].push_back(clique);
    }
    CliqueCover out;
    for (CliqueId clique : all_ids<CliqueId>(cover_.cliques())) {
      const std::span<const PackingId> members = cover_.members(clique);
      const PackingId rarest = *std::min_element(members.begin(), members.end(), [&](PackingId a, PackingId b) {
        return cliques_of[a].size() < cliques_of[b].size();
      });
      const bool is_subset = std::any_of(cliques_of[rarest].begin(), cliques_of[rarest].end(), [&](CliqueId other) {
        const std::span<const PackingId> others = cover_.members(other);
        if (other == clique || others.size() < members.size()) return false;
        if (others.size() == members.size() && other > clique) return false;  // of two equal cliques, the first stays
        effort_.spend(static_cast<std::int64_t>(others.size()) / 8 + 1);
        return std::includes(others.begin(), others.end(), members.begin(), members.end());
      });
      if (effort_.exhausted()) return std::nullopt;
      if (!is_subset) out.append(members);
    }
    return out;
  }

  const CompressedProblem& problem_;
  Effort& effort_;
  Flags<PackingId> is_fixed_;
  CliqueCover cover_;
};

}  // namespace

std::optional<CliqueCover> clique_cover(const CompressedProblem& problem, const ConflictGraph* graph, Effort& effort) {
  return CoverBuilder(problem, effort).run(graph);
}

CliqueBound clique_bound(const CompressedProblem& problem, const CliqueCover& cover) {
  CliqueBound bound;
  std::set<std::int64_t> alignments;
  for (PackingId id : problem.participants()) alignments.insert(problem.buffers[id].alignment());
  for (CliqueId clique : all_ids<CliqueId>(cover.cliques())) {
    for (std::int64_t alignment : alignments) {
      std::int64_t sum = 0;
      std::int64_t most_padding = 0;
      for (PackingId id : cover.members(clique)) {
        const CompressedProblem::Buffer& buffer = problem.buffers[id];
        if (buffer.alignment() < alignment) continue;
        const std::int64_t padded = aligned_up(buffer.size, alignment);
        sum += padded;
        most_padding = std::max(most_padding, padded - buffer.size);
      }
      if (sum - most_padding > bound.height) bound = {sum - most_padding, clique};
    }
  }
  return bound;
}

}  // namespace lowtide::allocate_internal
