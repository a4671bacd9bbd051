// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/exact/nogood_table.h"
#include "lowtide/allocate/exact/skyline_rules.h"
#include "lowtide/allocate/problem/clique_cover.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/placements.h"
#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {

// A packing problem without time: buffers that are to be placed are sets of cliques; fixed ones are ranges of bytes
// that are blocked in cliques.
struct CoverProblem {
  struct Buffer {
    std::int64_t size = 0;
    std::int64_t span = 0;  // size, rounded up to the unit
    std::int64_t alignment = 1;
    std::uint32_t kind = 0;  // buffers of one kind are interchangeable: alike in everything but their id
    PackingId id;
  };
  std::vector<Buffer> buffers;
  std::int64_t unit = 1;  // the least alignment: every offset is a multiple

  [[nodiscard]] std::size_t cliques() const { return first_member.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t clique) const {
    return {member_list.data() + first_member[clique], first_member[clique + 1] - first_member[clique]};
  }
  [[nodiscard]] std::span<const std::uint32_t> cliques_of(std::uint32_t buffer) const {
    return {clique_list.data() + first_clique[buffer], first_clique[buffer + 1] - first_clique[buffer]};
  }

  // Lists, one after another, and where each begins (one more at the end). All ascending.
  std::vector<std::size_t> first_member;  // by clique
  std::vector<std::uint32_t> member_list;
  std::vector<std::size_t> first_clique;  // by buffer
  std::vector<std::uint32_t> clique_list;
  std::vector<std::vector<AddressRange>> blocked_in;   // by clique: disjoint, with space between them
  std::vector<std::vector<AddressRange>> blocked_for;  // by buffer: in one of its cliques
};

// Require: `cover` is of the problem.
[[nodiscard]] CoverProblem cover_problem(const CompressedProblem& problem, const CliqueCover& cover);

// The state of a SkylineSearch for problems without a row of cliques: gaps, fixed buffers, relations. Decided is, for
// each clique, a height below which none of the remaining buffers lies. The rest follows and is kept up to date:
//
//   low(b)    the lowest offset that a remaining buffer can have: at or above the heights of all its cliques, aligned,
//             and free of blocked bytes
//   floor(s)  the least low(b) of the remaining buffers of a clique; these buffers are the candidates of the clique
//
//      |    |        |xx|      b is in both cliques and cannot lie below the right one. a is the candidate of the
//      |    |xxxx|   |xx|      left one, and its floor is the low of a. Once a lies there, the floor jumps up to the
//      |____|xxxx|___|xx|      low of b.
//
// A clique can be decided if no clique of a candidate has a lower floor. Then the search is complete, also with mixed
// alignments and blocked bytes. Proof: say that the remaining buffers can be placed, each at or above the floors of its
// cliques. Take the placement with the least sum of offsets, and a clique s that can be decided.
//   - If a buffer of s lies at its floor, it is a candidate, and placing it leaves a state that can be completed.
//   - If not, let b be the lowest buffer of s. No lower offset of b is free, or the sum would not be the least. So b
//     lies at its low, above the floor, or it rests (rounded up) on a blocked range or on another remaining buffer c. c
//     shares a clique with b, and b is a candidate. All cliques of candidates have the floor of s, because s can be
//     decided, so c lies at or above that floor. c is not in s, because then it would be lower than b. `next_floor` is
//     the least of all these offsets, so lifting s to it leaves a state that can be completed.
// Some clique can always be decided: one with the least floor of all. Every move removes a buffer or raises a floor
// below the capacity, so the search ends.
//
// Cost of a move: the members of the cliques that it changes, and the cliques of those members.
class CoverState {
 public:
  using Problem = CoverProblem;
  // [first, last) of the cliques that `split` has written down.
  struct Part {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  struct Mark {
    std::size_t cliques = 0;
    std::size_t buffers = 0;
    std::size_t placed = 0;
  };

  // `problem` must outlive the state.
  CoverState(const CoverProblem& problem, const SkylineRules& rules);

  // Undoes all decisions. Requires: no fixed buffer ends above it.
  void set_capacity(std::int64_t capacity);
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }

  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const { return offset_[buffer]; }
  [[nodiscard]] std::int64_t floor(std::uint32_t clique) const { return cliques_[clique].floor; }
  [[nodiscard]] std::uint32_t candidates(std::uint32_t clique) const { return cliques_[clique].candidates; }
  // Bytes of the clique that may stay unused.
  [[nodiscard]] std::int64_t slack(std::uint32_t clique) const { return cliques_[clique].slack; }

  [[nodiscard]] Part whole();
  [[nodiscard]] bool has_remaining(Part part);

  // The best clique that can be decided.
  template <typename IsBetter>
  [[nodiscard]] std::uint32_t choose(Part part, IsBetter&& is_better) {
    std::optional<std::uint32_t> best;
    for (std::uint32_t clique : cliques_of(part)) {
      if (!has_remaining(clique) || (best && !is_better(clique, *best))) continue;
      if (is_decidable(clique)) best = clique;
    }
    LOWTIDE_CHECK(best.has_value(), "a clique with the least floor of a part can be decided");
    return *best;
  }

  // Appends the candidates of a clique. Of interchangeable ones, only the first.
  void append_candidates(std::uint32_t clique, std::vector<std::uint32_t>& out) const;

  // Puts a candidate at the floor of the clique, which is its low. Always possible.
  bool place(std::uint32_t clique, std::uint32_t buffer);
  // Lifts a clique that can be decided to the lowest offset that one of its buffers can have above its floor. Returns
  // false if there is none below the capacity.
  bool lift(std::uint32_t clique, Part part);
  // Brings what follows up to date. Returns a clique that cannot be completed if it finds one; others are then not up
  // to date.
  [[nodiscard]] std::optional<std::uint32_t> evaluate();

  // Appends the parts that remaining buffers join, the one with the fewest cliques first: if it fails, it fails
  // soonest.
  void split(Part part, std::vector<Part>& parts);

  [[nodiscard]] Mark mark() const { return {clique_trail_.size(), buffer_trail_.size(), placed_.size()}; }
  void undo(const Mark& mark);
  [[nodiscard]] std::size_t parts_mark() const { return part_cliques_.size(); }
  void forget_parts(std::size_t mark) { part_cliques_.resize(mark); }

  // Of floors and remaining buffers in the cliques of a part.
  [[nodiscard]] StateKey key_of(Part part) const;

  // Cliques and buffers looked at so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct CliqueState {
    std::int64_t remaining = 0;  // spans of the remaining buffers
    std::int64_t floor = 0;
    std::int64_t slack = 0;
    std::uint32_t candidates = 0;
    StateKey set_key;    // of the remaining buffers whose first clique it is
    StateKey floor_key;  // of the clique and its floor
  };

  [[nodiscard]] std::span<const std::uint32_t> cliques_of(Part part) const {
    return {part_cliques_.data() + part.first, part.last - part.first};
  }
  [[nodiscard]] bool has_remaining(std::uint32_t clique) const { return cliques_[clique].remaining > 0; }
  [[nodiscard]] bool is_decidable(std::uint32_t clique);
  [[nodiscard]] std::optional<std::int64_t> next_floor(std::uint32_t clique);
  void collect_part(std::uint32_t from, std::vector<Part>& parts);
  [[nodiscard]] std::int64_t fit(std::uint32_t buffer, std::int64_t from) const;
  [[nodiscard]] std::int64_t room_above(std::uint32_t clique, std::int64_t from) const;
  void save(std::uint32_t clique);
  void raise(std::uint32_t clique, std::int64_t height);
  void touch(std::uint32_t clique);
  [[nodiscard]] bool evaluate(std::uint32_t clique);

  const CoverProblem& problem_;
  SkylineRules rules_;
  std::int64_t capacity_ = 0;
  std::vector<CliqueState> cliques_;
  std::vector<std::int64_t> top_;  // by buffer: the highest of its cliques
  std::vector<std::int64_t> low_;
  std::vector<std::int64_t> offset_;
  Flags<std::uint32_t> is_remaining_;
  std::vector<StateKey> buffer_key_;
  std::vector<std::uint32_t> touched_;  // cliques to be evaluated, each once
  Flags<std::uint32_t> is_touched_;
  std::vector<std::uint32_t> part_cliques_;     // of all parts
  std::vector<std::uint64_t> stamp_of_clique_;  // scratch of next_floor and split
  std::vector<std::uint64_t> stamp_of_buffer_;
  std::uint64_t stamp_ = 0;
  struct SavedClique {
    std::uint32_t clique;
    CliqueState state;
  };
  struct SavedBuffer {
    std::uint32_t buffer;
    std::int64_t top;
    std::int64_t low;
  };
  std::vector<SavedClique> clique_trail_;
  std::vector<SavedBuffer> buffer_trail_;
  std::vector<std::uint32_t> placed_;
  std::int64_t work_ = 0;
};

}  // namespace lowtide::allocate_internal
