// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/clique_cover.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <tuple>

#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

std::vector<PackingId> participants(const CompressedProblem& problem) {
  std::vector<PackingId> all = problem.movable;
  all.insert(all.end(), problem.fixed.begin(), problem.fixed.end());
  return all;
}

// A bit for each ordered pair of `count` things.
class PairBits {
 public:
  explicit PairBits(std::size_t count) : words_((count + 63) / 64), bits_(count * words_, 0) {}
  void set(std::size_t a, std::size_t b) {
    row(a)[b / 64] |= std::uint64_t{1} << (b % 64);
    row(b)[a / 64] |= std::uint64_t{1} << (a % 64);
  }
  [[nodiscard]] bool has(std::size_t a, std::size_t b) const {
    return ((bits_[a * words_ + b / 64] >> (b % 64)) & 1U) != 0;
  }
  [[nodiscard]] std::span<std::uint64_t> row(std::size_t a) { return {bits_.data() + a * words_, words_}; }
  [[nodiscard]] std::size_t words() const { return words_; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

std::optional<std::size_t> first_bit(std::span<const std::uint64_t> bits) {
  for (std::size_t word = 0; word < bits.size(); ++word) {
    if (bits[word] != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(bits[word]));
  }
  return std::nullopt;
}

}  // namespace

class CoverBuilder {
 public:
  CoverBuilder(const CompressedProblem& problem, std::size_t most_members, Effort& effort)
      : problem_(problem), most_members_(most_members), effort_(effort), is_fixed_(problem.buffers.size()) {
    for (PackingId id : problem.fixed) is_fixed_.set(id);
  }

  std::optional<CliqueCover> run(const ConflictGraph* graph) && {
    if (!add_moments()) return std::nullopt;
    if (!problem_.pairs.empty() && !add_pairs(*graph)) return std::nullopt;
    return without_subsets();
  }

 private:
  // Returns false if the cover has no space for it. Sorts it.
  bool add(std::vector<PackingId>& clique) {
    if (std::all_of(clique.begin(), clique.end(), [&](PackingId id) { return is_fixed_.test(id); })) return true;
    if (cover_.members_.size() + clique.size() > most_members_ || effort_.exhausted()) return false;
    effort_.spend(static_cast<std::int64_t>(clique.size()));
    std::sort(clique.begin(), clique.end());
    cover_.members_.insert(cover_.members_.end(), clique.begin(), clique.end());
    cover_.first_.push_back(cover_.members_.size());
    return true;
  }

  // Sweeps over time. Where something ends after something has begun, the set that ends there is within no neighbour.
  bool add_moments() {
    struct End {
      Moment moment;
      bool begins;  // ends come first at the same moment: spans are half-open
      PackingId id;
    };
    std::vector<End> ends;
    for (PackingId id : participants(problem_)) {
      for (const MomentSpan& part : problem_.parts_of(id)) {
        ends.push_back({part.begin, true, id});
        ends.push_back({part.end, false, id});
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
        std::vector<PackingId> clique = active;
        if (has_begun && !add(clique)) return false;
        const std::size_t at = position[end.id];
        active[at] = active.back();
        position[active[at]] = at;
        active.pop_back();
      }
      has_begun = end.begins;
    }
    return true;
  }

  bool add_pairs(const ConflictGraph& graph) {
    // The largest first: the first bit of a row is then the largest neighbour.
    std::vector<PackingId> order = participants(problem_);
    std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) {
      return std::tuple(-problem_.buffers[a].size, a) < std::tuple(-problem_.buffers[b].size, b);
    });
    if (order.size() > tuning::kCoverMostPaired) return false;
    IdVector<PackingId, std::size_t> rank(problem_.buffers.size());
    for (std::size_t at = 0; at < order.size(); ++at) rank[order[at]] = at;
    PairBits conflicts(order.size());
    for (PackingId id : order) {
      for (PackingId other : graph.neighbours(id)) conflicts.set(rank[id], rank[other]);
    }
    std::vector<std::tuple<std::size_t, std::size_t>> open;
    open.reserve(problem_.pairs.size());
    for (const PackingPair& pair : problem_.pairs) {
      open.push_back(std::minmax(rank[pair.first], rank[pair.second]));
    }
    std::sort(open.begin(), open.end());
    PairBits covered(order.size());
    std::vector<std::uint64_t> common(conflicts.words());
    for (const auto& [first, second] : open) {
      if (covered.has(first, second)) continue;
      std::vector<std::size_t> clique = {first, second};
      for (std::size_t word = 0; word < common.size(); ++word) {
        common[word] = conflicts.row(first)[word] & conflicts.row(second)[word];
      }
      while (const std::optional<std::size_t> next = first_bit(common)) {
        clique.push_back(*next);
        for (std::size_t word = 0; word < common.size(); ++word) common[word] &= conflicts.row(*next)[word];
      }
      std::vector<PackingId> members;
      for (std::size_t at : clique) {
        members.push_back(order[at]);
        for (std::size_t other : clique) covered.set(at, other);
      }
      effort_.spend(static_cast<std::int64_t>(clique.size() * (clique.size() + common.size())) / 8);
      if (!add(members)) return false;
    }
    return true;
  }

  // A clique within another one says nothing of its own. Looked for among the cliques of its member that has fewest.
  std::optional<CliqueCover> without_subsets() {
    IdVector<PackingId, std::vector<std::size_t>> cliques_of(problem_.buffers.size());
    for (std::size_t clique = 0; clique < cover_.cliques(); ++clique) {
      for (PackingId id : cover_.members(clique)) cliques_of[id].push_back(clique);
    }
    CliqueCover out;
    for (std::size_t clique = 0; clique < cover_.cliques(); ++clique) {
      const std::span<const PackingId> members = cover_.members(clique);
      const PackingId rarest = *std::min_element(members.begin(), members.end(), [&](PackingId a, PackingId b) {
        return cliques_of[a].size() < cliques_of[b].size();
      });
      const bool is_within = std::any_of(cliques_of[rarest].begin(), cliques_of[rarest].end(), [&](std::size_t other) {
        const std::span<const PackingId> others = cover_.members(other);
        if (other == clique || others.size() < members.size()) return false;
        if (others.size() == members.size() && other > clique) return false;  // of two alike the first stays
        effort_.spend(static_cast<std::int64_t>(others.size()) / 8 + 1);
        return std::includes(others.begin(), others.end(), members.begin(), members.end());
      });
      if (effort_.exhausted()) return std::nullopt;
      if (is_within) continue;
      out.members_.insert(out.members_.end(), members.begin(), members.end());
      out.first_.push_back(out.members_.size());
    }
    return out;
  }

  const CompressedProblem& problem_;
  const std::size_t most_members_;
  Effort& effort_;
  Flags<PackingId> is_fixed_;
  CliqueCover cover_;
};

std::optional<CliqueCover> clique_cover(const CompressedProblem& problem, const ConflictGraph* graph,
                                        std::size_t most_members, Effort& effort) {
  return CoverBuilder(problem, most_members, effort).run(graph);
}

CliqueBound clique_bound(const CompressedProblem& problem, const CliqueCover& cover) {
  CliqueBound bound;
  std::set<std::int64_t> levels;
  for (PackingId id : participants(problem)) levels.insert(problem.buffers[id].alignment);
  for (std::size_t clique = 0; clique < cover.cliques(); ++clique) {
    for (std::int64_t level : levels) {
      std::int64_t sum = 0;
      std::int64_t most_padding = 0;
      for (PackingId id : cover.members(clique)) {
        const CompressedProblem::Buffer& buffer = problem.buffers[id];
        if (buffer.alignment < level) continue;
        const std::int64_t rounded = (buffer.size + level - 1) & -level;
        sum += rounded;
        most_padding = std::max(most_padding, rounded - buffer.size);
      }
      if (sum - most_padding > bound.height) bound = {sum - most_padding, clique};
    }
  }
  return bound;
}

}  // namespace lowtide::allocate_internal
