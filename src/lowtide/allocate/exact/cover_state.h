// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "lowtide/allocate/exact/cover_problem.h"
#include "lowtide/allocate/exact/nogood_table.h"
#include "lowtide/allocate/exact/skyline_rules.h"
#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {

// The state of a SkylineSearch for problems whose cliques have no order: with gaps, fixed buffers or a relation. The
// search decides a height for each clique, and none of the remaining buffers of the clique lies below it. The rest
// follows from these heights and is kept up to date:
//
//   low(b)     the lowest offset that a remaining buffer can have: at or above the heights of all its cliques, aligned,
//              and without a blocked byte
//   bottom(s)  the least low(b) of the remaining buffers of a clique; these buffers are the candidates of the clique
//
//      |    |        |xx|      b is in both cliques and cannot lie below the height of the right one. a is the
//      |    |xxxx|   |xx|      candidate of the left clique, whose bottom is the low of a. When a is assigned there,
//      |____|xxxx|___|xx|      the bottom rises to the low of b.
//
// A clique can be decided if none of its candidates is in a clique with a lower bottom. Then the search is complete,
// even with mixed alignments and blocked bytes. Proof: assume that the remaining buffers can be assigned offsets, each
// at or above the bottoms of its cliques. Take the assignment with the least sum of offsets, and a clique s that can be
// decided.
//   - If a buffer of s lies at the bottom of s, it is a candidate, and assigning it leaves a state that can be
//     completed.
//   - Otherwise let b be the lowest buffer of s. No lower offset of b is free, because the sum is the least. So b lies
//     at its low, which is above the bottom, or it rests (rounded up) on a blocked range or on another remaining buffer
//     c. In the last case b is a candidate, and c shares a clique with b. All cliques of candidates have the bottom of
//     s, because s can be decided, so c lies at or above that bottom. c is not in s, because it is lower than b.
//     `next_bottom` is the least of all these offsets, so lifting s to it leaves a state that can be completed.
// Some clique can always be decided: one with the least bottom of all. Every move removes a buffer or raises a bottom
// below the capacity, so the search ends.
//
// Cost of a move: the members of the cliques that it changes, and the cliques of those members.
class CoverState {
 public:
  using Problem = CoverProblem;
  // Cliques [first, last) of the list that `split` has written.
  struct Component {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  struct Mark {
    std::size_t cliques = 0;
    std::size_t buffers = 0;
    std::size_t assigned = 0;
  };

  // `problem` must outlive the state.
  CoverState(const CoverProblem& problem, const SkylineRules& rules);

  // Undoes all decisions. Requires: no fixed buffer ends above the capacity.
  void set_capacity(std::int64_t capacity);
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }

  [[nodiscard]] std::int64_t offset(SearchBuffer buffer) const { return offset_[buffer]; }
  [[nodiscard]] std::int64_t bottom(CliqueId clique) const { return cliques_[clique].bottom; }
  [[nodiscard]] std::uint32_t candidates(CliqueId clique) const { return cliques_[clique].candidates; }
  // The bytes of the clique that may stay unused.
  [[nodiscard]] std::int64_t slack(CliqueId clique) const { return cliques_[clique].slack; }

  [[nodiscard]] Component whole();
  [[nodiscard]] bool has_remaining(Component component);

  // Returns the clique with the least rank among those that can be decided, the first one of equals.
  template <typename RankOf>
  [[nodiscard]] CliqueId choose(Component component, RankOf&& rank_of) {
    std::optional<CliqueId> best;
    std::invoke_result_t<RankOf&, CliqueId> least;
    for (CliqueId clique : cliques_of(component)) {
      if (!has_remaining(clique)) continue;
      const auto rank = rank_of(clique);
      if ((best && !(rank < least)) || !is_decidable(clique)) continue;
      best = clique;
      least = rank;
    }
    LOWTIDE_CHECK(best.has_value(), "a clique with the least bottom of a component can be decided");
    return *best;
  }

  // Appends the candidates of a clique. Skips a candidate that is interchangeable with an earlier one.
  void append_candidates(CliqueId clique, std::vector<SearchBuffer>& out) const;

  // Gives a candidate its low, which is the bottom of the clique, as its offset. This is always possible, so the result
  // is true.
  bool assign(CliqueId clique, SearchBuffer buffer);
  // Lifts a clique that can be decided to the lowest offset that one of its buffers can have above its bottom. Returns
  // false if there is none below the capacity.
  bool lift(CliqueId clique, Component component);
  // Updates what follows from the decisions. Returns a clique that cannot be completed, if it finds one. Then other
  // cliques may not be up to date.
  [[nodiscard]] std::optional<CliqueId> evaluate();

  // Splits a component into components that share no remaining buffer, and appends them. The one with the fewest
  // cliques comes first, because a failure there is found soonest.
  void split(Component component, std::vector<Component>& components);

  [[nodiscard]] Mark mark() const { return {clique_trail_.size(), buffer_trail_.size(), assigned_.size()}; }
  void undo(const Mark& mark);
  [[nodiscard]] std::size_t components_mark() const { return component_cliques_.size(); }
  void forget_components(std::size_t mark) { component_cliques_.resize(mark); }

  // Identifies the bottoms and the remaining buffers of a component.
  [[nodiscard]] StateKey key_of(Component component) const;

  // The number of cliques and buffers that were visited so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct CliqueState {
    std::int64_t remaining = 0;  // padded sizes of the remaining buffers
    std::int64_t bottom = 0;
    std::int64_t slack = 0;
    std::uint32_t candidates = 0;
    StateKey set_key;     // of the remaining buffers whose first clique it is
    StateKey bottom_key;  // of the clique and its bottom
  };

  [[nodiscard]] std::span<const CliqueId> cliques_of(Component component) const {
    return {component_cliques_.data() + component.first, component.last - component.first};
  }
  [[nodiscard]] bool has_remaining(CliqueId clique) const { return cliques_[clique].remaining > 0; }
  [[nodiscard]] bool is_decidable(CliqueId clique);
  [[nodiscard]] std::optional<std::int64_t> next_bottom(CliqueId clique);
  [[nodiscard]] std::int64_t lowest_end_beside(std::vector<SearchBuffer>& candidates, std::uint64_t in_clique);
  void collect_component(CliqueId from, std::vector<Component>& components);
  [[nodiscard]] std::int64_t lowest_free(SearchBuffer buffer, std::int64_t from) const;
  [[nodiscard]] std::int64_t space_above(CliqueId clique, std::int64_t from) const;
  void save(CliqueId clique);
  void raise(CliqueId clique, std::int64_t height);
  void touch(CliqueId clique);
  [[nodiscard]] bool evaluate(CliqueId clique);

  const CoverProblem& problem_;
  SkylineRules rules_;
  std::int64_t capacity_ = 0;
  IdVector<CliqueId, CliqueState> cliques_;
  IdVector<SearchBuffer, std::int64_t> top_;  // the highest of the heights of its cliques
  IdVector<SearchBuffer, std::int64_t> low_;
  IdVector<SearchBuffer, std::int64_t> offset_;
  Flags<SearchBuffer> is_remaining_;
  IdVector<SearchBuffer, StateKey> buffer_key_;
  std::vector<CliqueId> touched_;  // cliques to be evaluated, each once
  Flags<CliqueId> is_touched_;
  std::vector<CliqueId> component_cliques_;            // of all components
  IdVector<CliqueId, std::uint64_t> stamp_of_clique_;  // scratch of next_bottom and split
  IdVector<SearchBuffer, std::uint64_t> stamp_of_buffer_;
  std::uint64_t stamp_ = 0;
  struct SavedClique {
    CliqueId clique;
    CliqueState state;
  };
  struct SavedBuffer {
    SearchBuffer buffer;
    std::int64_t top = 0;
    std::int64_t low = 0;
  };
  std::vector<SavedClique> clique_trail_;
  std::vector<SavedBuffer> buffer_trail_;
  std::vector<SearchBuffer> assigned_;
  std::int64_t work_ = 0;
};

}  // namespace lowtide::allocate_internal
