// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lowtide/allocate/exact/interval_problem.h"
#include "lowtide/allocate/exact/nogood_table.h"
#include "lowtide/allocate/exact/skyline_rules.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {

// Cliques [begin, end).
struct CliqueRange {
  Clique begin = 0;
  Clique end = 0;
};

// The state of a SkylineSearch over plain lifespans: for each clique the height below which nothing will be placed any
// more, and the buffers that remain. Two moves change it, and both are undone in reverse order.
//
//   place(b)      if all cliques of b have the same height, b lies there and raises them by its size
//   lift(s, to)   no remaining buffer of s lies below `to`
//
// A run is a maximal row of cliques of one height that remaining buffers join. A run is a valley if no remaining
// buffer reaches from it into a lower clique. Take a clique s of a valley, and the buffer that lies lowest in s.
// Either this buffer lives within the valley and lies at its height, or no buffer lies there and s can be lifted. These
// are the options of s, and one of them holds in every packing in which buffers rest on each other. That is true for
// each clique of each valley, so the search is free to choose the clique.
//
//      |    |       |xx|
//      |xx  |   b   |xx|      The cliques below b are a valley. b lives within it and is an option. A buffer that also
//      |xxxx|_______|xx|      lives in a clique of the walls would leave a hole.
//
// Cost: place and lift O(length of the buffer); evaluate O(cliques and remaining buffers of the runs that changed).
class ValleyState {
 public:
  using Problem = IntervalProblem;
  using Part = CliqueRange;
  using Mark = std::size_t;

  // `problem` must outlive the state.
  ValleyState(const IntervalProblem& problem, const SkylineRules& rules);

  // Undoes all decisions.
  void set_capacity(std::int64_t capacity);
  [[nodiscard]] std::int64_t capacity() const { return exact_capacity_; }

  [[nodiscard]] std::int64_t floor(Clique clique) const { return height_[clique]; }
  // Bytes of the clique that may stay unused. Below 0, the clique cannot hold what remains.
  [[nodiscard]] std::int64_t slack(Clique clique) const { return capacity_ - height_[clique] - remaining_[clique]; }
  // Buffers that may lie lowest in the clique. As of `evaluate`. Requires: `choose` may return the clique.
  [[nodiscard]] std::uint32_t candidates(Clique clique) const { return candidates_[clique]; }
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const { return offset_[buffer]; }

  [[nodiscard]] CliqueRange whole() const { return {0, problem_.clique_count}; }
  // Cuts off cliques without remaining buffers at both ends.
  [[nodiscard]] bool has_remaining(CliqueRange& part) const;

  // The best clique of a valley.
  template <typename IsBetter>
  [[nodiscard]] Clique choose(CliqueRange part, IsBetter&& is_better) {
    std::optional<Clique> best;
    work_ += (part.end - part.begin) / 4;
    for (Clique clique = part.begin; clique < part.end; ++clique) {
      if (candidates_[clique] == kNotInValley) continue;
      if (!best || is_better(clique, *best)) best = clique;
    }
    LOWTIDE_CHECK(best.has_value(), "the lowest cliques of a part are a valley");
    return *best;
  }

  // Appends the candidates of a clique of a valley. Of interchangeable ones, only the first.
  void append_candidates(Clique clique, std::vector<std::uint32_t>& out) const;

  // Puts a candidate at the floor of the clique. Returns false if its bytes, without padding, end above the capacity.
  bool place(Clique clique, std::uint32_t buffer);
  // Lifts the clique to the next height that a buffer can have. Returns false if what remains does not fit above it.
  bool lift(Clique clique, CliqueRange part);
  // Brings `candidates` up to date. Returns a clique that cannot be completed if it finds one; others are then not up
  // to date.
  [[nodiscard]] std::optional<Clique> evaluate();

  // Appends the parts that remaining buffers join, the shortest first: if it fails, it fails soonest.
  void split(CliqueRange part, std::vector<CliqueRange>& parts) const;

  [[nodiscard]] Mark mark() const { return trail_.size(); }
  void undo(Mark mark);
  // A part needs no storage.
  [[nodiscard]] std::size_t parts_mark() const { return 0; }
  void forget_parts(std::size_t /*mark*/) {}

  // Of heights and remaining buffers in `part`.
  [[nodiscard]] StateKey key_of(CliqueRange part) const;

  // Cliques and buffers looked at so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr std::uint32_t kNotInValley = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Move {
    std::uint32_t buffer = kNone;  // kNone: a lift
    Clique clique = 0;
    std::int64_t before = 0;
  };

  void link(std::uint32_t buffer);
  void unlink(std::uint32_t buffer);
  void set_height(Clique clique, std::int64_t height);
  void touch(Clique begin, Clique end);
  [[nodiscard]] Clique end_of_run(Clique begin, Clique end) const;
  [[nodiscard]] std::optional<Clique> evaluate_run(CliqueRange run);
  [[nodiscard]] CliqueRange run_of(Clique clique) const;
  [[nodiscard]] std::optional<std::int64_t> wall_of(CliqueRange run) const;
  [[nodiscard]] std::optional<std::int64_t> next_height(Clique clique, CliqueRange part);
  void find_rests(Clique clique, CliqueRange part);

  const IntervalProblem& problem_;
  SkylineRules rules_;
  std::int64_t exact_capacity_ = 0;
  std::int64_t capacity_ = 0;              // rounded up to whole units
  std::vector<std::int64_t> height_;       // by clique
  std::vector<std::int64_t> remaining_;    // by clique: bytes of remaining buffers
  std::vector<std::uint32_t> crossing_;    // by clique: remaining buffers that live in it and in the one before it
  std::vector<std::uint32_t> candidates_;  // by clique; kNotInValley if it cannot be decided
  std::vector<std::uint32_t> first_;  // by clique: first remaining buffer that begins there; doubly linked from there
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> previous_;
  std::vector<std::int64_t> offset_;  // by buffer
  std::vector<StateKey> height_key_;  // by clique
  std::vector<StateKey> set_key_;     // by clique, of the remaining buffers that begin there
  std::vector<StateKey> buffer_key_;
  std::vector<std::int32_t> count_change_;  // scratch of evaluate_run, by clique
  std::vector<std::int64_t> bytes_change_;
  std::vector<std::int64_t> rest_;  // scratch of next_height, by clique
  std::vector<Move> trail_;
  CliqueRange touched_;  // cliques changed since `evaluate`
  std::int64_t work_ = 0;
};

}  // namespace lowtide::allocate_internal
