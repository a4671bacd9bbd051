// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "lowtide/allocate/exact/interval_problem.h"
#include "lowtide/allocate/exact/nogood_table.h"
#include "lowtide/allocate/exact/remaining_buffers.h"
#include "lowtide/allocate/exact/skyline_rules.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {

// The state of a SkylineSearch over plain lifespans: for each clique, a height below which nothing more will be
// assigned, and the buffers that remain. Two moves change it, and both are undone in reverse order.
//
//   assign(b)     if all cliques of b have the same height, b lies there and raises them by its size
//   lift(s, to)   no remaining buffer of s lies below `to`
//
// A run is a maximal sequence of neighbouring cliques of one height that remaining buffers join. A run is a valley if
// no remaining buffer reaches from it into a lower clique. Take a clique s of a valley, and the buffer that lies lowest
// in s. Either this buffer is live only within the valley and lies at its height, or no buffer lies there and s can be
// lifted. These are the options of s. In every packing in which all buffers rest on the ground or on each other,
// exactly one option holds. This is true for each clique of each valley, so the search may choose any of them.
//
//      |    |       |xx|
//      |xx  |   b   |xx|      The cliques below b are a valley. b is live only there, so it is an option. A buffer
//      |xxxx|_______|xx|      that is also in a clique beside the valley must lie higher, and would leave a hole.
//
// Cost: assign and lift O(length of the buffer); evaluate O(cliques and remaining buffers of the runs that changed).
class ValleyState {
 public:
  using Problem = IntervalProblem;
  using Component = CliqueSpan;
  using Mark = std::size_t;

  // `problem` must outlive the state.
  ValleyState(const IntervalProblem& problem, const SkylineRules& rules);

  // Undoes all decisions.
  void set_capacity(std::int64_t capacity);
  [[nodiscard]] std::int64_t capacity() const { return exact_capacity_; }

  [[nodiscard]] std::int64_t bottom(CliqueId clique) const { return height_[clique]; }
  // The bytes of the clique that may stay unused. Below 0, the remaining buffers do not fit.
  [[nodiscard]] std::int64_t slack(CliqueId clique) const { return capacity_ - height_[clique] - remaining_[clique]; }
  // The number of buffers that may lie lowest in the clique, as of `evaluate`. Requires: `choose` may return the
  // clique.
  [[nodiscard]] std::uint32_t candidates(CliqueId clique) const { return *candidates_[clique]; }
  [[nodiscard]] std::int64_t offset(SearchBuffer buffer) const { return offset_[buffer]; }

  [[nodiscard]] CliqueSpan whole() const { return {CliqueId(0), CliqueId(problem_.clique_count)}; }
  // Returns false if no clique of the component has remaining buffers. Otherwise removes the cliques without remaining
  // buffers from both ends of the component.
  [[nodiscard]] bool has_remaining(CliqueSpan& component) const;

  // Returns the clique of a valley with the least rank, the first one of equals.
  template <typename RankOf>
  [[nodiscard]] CliqueId choose(CliqueSpan component, RankOf&& rank_of) {
    std::optional<CliqueId> best;
    std::invoke_result_t<RankOf&, CliqueId> least;
    work_ += length(component) / 4;
    for (CliqueId clique : cliques_in(component)) {
      if (!candidates_[clique]) continue;
      const auto rank = rank_of(clique);
      if (best && !(rank < least)) continue;
      best = clique;
      least = rank;
    }
    LOWTIDE_CHECK(best.has_value(), "the lowest cliques of a component are a valley");
    return *best;
  }

  // Appends the candidates of a clique of a valley. Skips a candidate that is interchangeable with an earlier one.
  void append_candidates(CliqueId clique, std::vector<SearchBuffer>& out) const;

  // Gives a candidate the bottom of the clique as its offset. Returns false if its bytes, without padding, end above
  // the capacity.
  bool assign(CliqueId clique, SearchBuffer buffer);
  // Lifts the clique to the next height that one of its buffers can have. Returns false if the remaining buffers do not
  // fit above it.
  bool lift(CliqueId clique, CliqueSpan component);
  // Updates `candidates`. Returns a clique that cannot be completed, if it finds one. Then other cliques may not be up
  // to date.
  [[nodiscard]] std::optional<CliqueId> evaluate();

  // Splits a component where no remaining buffer crosses, and appends the results. The shortest comes first, because a
  // failure there costs the least.
  void split(CliqueSpan component, std::vector<CliqueSpan>& components) const;

  [[nodiscard]] Mark mark() const { return trail_.size(); }
  void undo(Mark mark);
  // Components need no storage.
  [[nodiscard]] std::size_t components_mark() const { return 0; }
  void forget_components(std::size_t /*mark*/) {}

  // Identifies the heights and the remaining buffers of a component.
  [[nodiscard]] StateKey key_of(CliqueSpan component) const;

  // The number of cliques and buffers that were visited so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct Move {
    std::optional<SearchBuffer> buffer;  // nullopt: a lift
    CliqueId clique;                     // of a lift
    std::int64_t before = 0;             // its height
  };

  // The cliques of the candidates of a clique, and their least alignment.
  struct Reach {
    CliqueSpan cliques;
    std::int64_t least_alignment = 0;
  };

  void insert(SearchBuffer buffer);
  void remove(SearchBuffer buffer);
  void set_height(CliqueId clique, std::int64_t height);
  void touch(CliqueSpan span);
  [[nodiscard]] bool is_crossed(CliqueId clique) const { return crossing_[clique] != 0; }
  // The begin and the end of the run of a clique. Cliques from `last` on are not looked at.
  [[nodiscard]] CliqueId begin_of_run(CliqueId clique) const;
  [[nodiscard]] CliqueId end_of_run(CliqueId clique, CliqueId last) const;
  [[nodiscard]] std::optional<CliqueId> evaluate_run(CliqueSpan run);
  [[nodiscard]] bool is_valley(CliqueSpan run) const;
  [[nodiscard]] std::optional<std::int64_t> lower_side_of(CliqueSpan run) const;
  [[nodiscard]] std::optional<std::int64_t> next_height(CliqueId clique, CliqueSpan component, std::int64_t highest);
  [[nodiscard]] Reach find_rests_above_bottom(CliqueId clique, CliqueSpan component, std::int64_t& lowest);
  void find_rests(CliqueId clique, CliqueSpan component);
  void find_rests_on_others(CliqueId clique, CliqueSpan component, const Reach& reach, std::int64_t& lowest);
  [[nodiscard]] bool are_interchangeable(SearchBuffer a, SearchBuffer b) const;

  const IntervalProblem& problem_;
  SkylineRules rules_;
  std::int64_t exact_capacity_ = 0;
  std::int64_t capacity_ = 0;  // rounded up to whole units
  IdVector<CliqueId, std::int64_t> height_;
  IdVector<CliqueId, std::int64_t> remaining_;  // bytes of the remaining buffers
  IdVector<CliqueId, std::uint32_t> crossing_;  // number of remaining buffers that are also in the previous clique
  IdVector<CliqueId, std::optional<std::uint32_t>> candidates_;  // nullopt if the clique cannot be decided
  RemainingBuffers buffers_;
  IdVector<SearchBuffer, std::int64_t> offset_;
  IdVector<CliqueId, StateKey> height_key_;
  IdVector<CliqueId, StateKey> clique_key_;  // of its height and of the remaining buffers that begin there
  IdVector<SearchBuffer, StateKey> buffer_key_;
  IdVector<CliqueId, std::int32_t> count_change_;  // scratch of evaluate_run
  IdVector<CliqueId, std::int64_t> bytes_change_;
  IdVector<CliqueId, std::int64_t> rest_;  // scratch of next_height
  std::vector<Move> trail_;
  CliqueSpan touched_;  // the cliques that have changed since `evaluate`
  std::int64_t work_ = 0;
};

}  // namespace lowtide::allocate_internal
