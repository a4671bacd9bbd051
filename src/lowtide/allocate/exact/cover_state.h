// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/exact/refuted_states.h"
#include "lowtide/allocate/problem/clique_cover.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/placements.h"

namespace lowtide {

// A packing problem without time: buffers that are to be placed are sets of sections; fixed ones are ranges of bytes
// that are blocked in sections.
struct CoverProblem {
  struct Buffer {
    std::int64_t size = 0;
    std::int64_t span = 0;  // size, rounded up to the unit
    std::int64_t alignment = 1;
    std::uint32_t twins = 0;  // buffers with one number are alike in everything but their id
    PackingId id;
  };
  std::vector<Buffer> buffers;
  std::int64_t unit = 1;  // the least alignment: every offset is a multiple

  [[nodiscard]] std::size_t sections() const { return first_member.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t section) const {
    return {member_list.data() + first_member[section], first_member[section + 1] - first_member[section]};
  }
  [[nodiscard]] std::span<const std::uint32_t> sections_of(std::uint32_t buffer) const {
    return {section_list.data() + first_section[buffer], first_section[buffer + 1] - first_section[buffer]};
  }

  // Lists one after the other, and where each begins (one more at the end). All ascending.
  std::vector<std::size_t> first_member;  // by section
  std::vector<std::uint32_t> member_list;
  std::vector<std::size_t> first_section;  // by buffer
  std::vector<std::uint32_t> section_list;
  std::vector<std::vector<AddressRange>> blocked_in;   // by section: disjoint, with space between them
  std::vector<std::vector<AddressRange>> blocked_for;  // by buffer: in one of its sections
};

// Require: `cover` is of the problem.
[[nodiscard]] CoverProblem cover_problem(const CompressedProblem& problem, const CliqueCover& cover);

// Rules of the search that may be switched off, to show that none of them changes an answer.
struct CoverRules {
  bool slack = true;       // a section that cannot hold what remains is a dead end
  bool ledges = true;      // also if it can, but not above the height at which part of it can start at the lowest
  bool twins = true;       // of buffers alike in everything, the first goes first
  bool components = true;  // parts that no remaining buffer joins are solved one by one
  bool memory = true;      // states that failed once are not tried again
};

// What is decided so far: for each section a height below which none of the remaining buffers lies. Follows from it,
// and is kept up to date:
//
//   low(b)    the lowest offset that a remaining buffer can have: at or above the heights of all its sections, aligned, and
//             free of blocked bytes
//   floor(s)  the least low(b) of the remaining buffers of a section; a buffer of the section that has it is a candidate
//
//      |    |        |xx|      b lives in both sections and cannot go below the right one; a is the candidate of the left
//      |    |xxxx|   |xx|      one, and its floor is the low of a. Once a lies there, the floor jumps up to the low of b.
//      |____|xxxx|___|xx|
//
// Undone in reverse order. Costs: a move, the members of the sections that it changes and the sections of those
// members.
class CoverState {
 public:
  // `problem` must outlive the state.
  CoverState(const CoverProblem& problem, const CoverRules& rules);

  // Require: nothing is decided. Fixed buffers end below it.
  void set_capacity(std::int64_t capacity);

  [[nodiscard]] const CoverProblem& problem() const { return problem_; }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const { return offset_[buffer]; }
  [[nodiscard]] bool is_remaining(std::uint32_t buffer) const { return is_remaining_[buffer] != 0; }
  [[nodiscard]] std::int64_t low(std::uint32_t buffer) const { return low_[buffer]; }

  [[nodiscard]] bool has_remaining(std::uint32_t section) const { return sections_[section].remaining > 0; }
  [[nodiscard]] std::int64_t floor(std::uint32_t section) const { return sections_[section].floor; }
  [[nodiscard]] std::uint32_t candidates(std::uint32_t section) const { return sections_[section].candidates; }
  // Bytes that may stay unused.
  [[nodiscard]] std::int64_t slack(std::uint32_t section) const { return sections_[section].slack; }

  // Whether one must lie at the floor or the section can be lifted: no section of a candidate has a lower floor.
  [[nodiscard]] bool is_decidable(std::uint32_t section);

  // Puts a candidate at its low.
  void place(std::uint32_t buffer);
  // Nobody who remains in the section lies below `to`.
  void lift(std::uint32_t section, std::int64_t to);
  // Brings what follows up to date. Returns a section that cannot be completed, if it meets one; then some are not.
  [[nodiscard]] std::optional<std::uint32_t> evaluate();

  struct Mark {
    std::size_t sections = 0;
    std::size_t buffers = 0;
    std::size_t placed = 0;
  };
  [[nodiscard]] Mark mark() const { return {section_trail_.size(), buffer_trail_.size(), placed_.size()}; }
  void undo(const Mark& mark);

  // The lowest offset that a buffer of a decidable section can have if none lies at its floor; nothing if none can.
  [[nodiscard]] std::optional<std::int64_t> next_floor(std::uint32_t section);

  // Of floors and remaining buffers in the sections of a part that no remaining buffer leaves.
  [[nodiscard]] StateKey key_of(std::span<const std::uint32_t> part) const;

  // Sections and buffers looked at so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct SectionState {
    std::int64_t remaining = 0;  // spans of the remaining buffers
    std::int64_t floor = 0;
    std::int64_t slack = 0;
    std::uint32_t candidates = 0;
    StateKey set_key;    // of the remaining buffers whose first section it is
    StateKey floor_key;  // of the section and its floor
  };

  [[nodiscard]] std::int64_t fit(std::uint32_t buffer, std::int64_t from) const;
  [[nodiscard]] std::int64_t room_above(std::uint32_t section, std::int64_t from) const;
  void save(std::uint32_t section);
  void raise(std::uint32_t section, std::int64_t height);
  void touch(std::uint32_t section);
  [[nodiscard]] bool evaluate(std::uint32_t section);

  const CoverProblem& problem_;
  CoverRules rules_;
  std::int64_t capacity_ = 0;
  std::vector<SectionState> sections_;
  std::vector<std::int64_t> top_;  // by buffer: the highest of its sections
  std::vector<std::int64_t> low_;
  std::vector<std::int64_t> offset_;
  std::vector<char> is_remaining_;
  std::vector<StateKey> buffer_key_;
  std::vector<std::uint32_t> touched_;  // sections to be evaluated, each once
  std::vector<char> is_touched_;
  std::vector<std::uint32_t> stamp_of_section_;  // scratch of next_floor
  std::vector<std::uint32_t> stamp_of_buffer_;
  std::uint32_t stamp_ = 0;
  struct SavedSection {
    std::uint32_t section;
    SectionState state;
  };
  struct SavedBuffer {
    std::uint32_t buffer;
    std::int64_t top;
    std::int64_t low;
  };
  std::vector<SavedSection> section_trail_;
  std::vector<SavedBuffer> buffer_trail_;
  std::vector<std::uint32_t> placed_;
  std::int64_t work_ = 0;
};

}  // namespace lowtide
