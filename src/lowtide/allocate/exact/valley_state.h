// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lowtide/allocate/exact/refuted_states.h"
#include "lowtide/allocate/exact/sections.h"

namespace lowtide {

// Rules of the valley search that may be switched off, to show that none of them changes an answer.
struct ValleyRules {
  bool slack = true;       // a section whose height and remaining bytes exceed the capacity is a dead end
  bool walls = true;       // a valley too shallow for what must cross its walls is a dead end
  bool twins = true;       // of buffers alike in everything, the first goes first
  bool components = true;  // parts that no remaining buffer joins are solved one by one
  bool memory = true;      // states that failed once are not tried again
};

// Sections [begin, end).
struct SectionRange {
  Section begin = 0;
  Section end = 0;
};

// What is decided so far: for each section the height below which nothing can be placed any more, and the buffers that
// remain. Two moves change it, and both are undone in reverse order.
//
//   place(b)      where all sections of b have one height, b goes there and lifts them by its size
//   lift(s, to)   nobody who remains in s lies below `to`
//
// A run is a longest stretch of sections of one height that remaining buffers join; it is a valley if no remaining
// buffer reaches from it into a lower section. In a valley the buffer that lies lowest in a section s is either one
// that lives within the valley, at the height of the valley, or none lies there and s can be lifted: these are the
// options of s, and one of them must hold whichever section one asks about.
//
//      |    |       |xx|
//      |xx  |   b   |xx|      the sections under b are a valley: b lives within it and is an option,
//      |xxxx|_______|xx|      a buffer that also lives in a section of the walls would leave a hole
//
// Costs: place and lift O(length of the buffer); evaluation O(sections and remaining buffers of the runs that changed).
class ValleyState {
 public:
  static constexpr std::uint32_t kNotInValley = std::numeric_limits<std::uint32_t>::max();

  // `problem` must outlive the state.
  ValleyState(const SectionedProblem& problem, const ValleyRules& rules);

  // Require: nothing is decided.
  void set_capacity(std::int64_t capacity) {
    exact_capacity_ = capacity;
    capacity_ = (capacity + problem_.unit - 1) & -problem_.unit;
  }

  [[nodiscard]] const SectionedProblem& problem() const { return problem_; }
  // In bytes, and in whole units.
  [[nodiscard]] std::int64_t exact_capacity() const { return exact_capacity_; }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  // Whether the bytes of a buffer, without its padding, end within the capacity at that offset.
  [[nodiscard]] bool has_room(std::uint32_t buffer, std::int64_t at) const {
    return at + problem_.buffers[buffer].size - problem_.buffers[buffer].padding <= exact_capacity_;
  }
  [[nodiscard]] std::int64_t height(Section section) const { return height_[section]; }
  [[nodiscard]] std::int64_t remaining(Section section) const { return remaining_[section]; }
  // Bytes of the section that may stay unused: below 0, it cannot hold what remains.
  [[nodiscard]] std::int64_t slack(Section section) const { return capacity_ - height_[section] - remaining_[section]; }
  // Buffers that may be placed lowest in the section; kNotInValley where that cannot be said. As of `evaluate`.
  [[nodiscard]] std::uint32_t candidates(Section section) const { return candidates_[section]; }
  // Whether a remaining buffer lives on both sides of the begin of the section.
  [[nodiscard]] bool joined(Section section) const { return crossing_[section] != 0; }
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const { return offset_[buffer]; }

  void place(std::uint32_t buffer, std::int64_t at);
  void lift(Section section, std::int64_t to);
  [[nodiscard]] std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);

  // All of it is to be evaluated again: the capacity has changed.
  void touch_all() { touched_ = {0, problem_.sections}; }
  // Brings `candidates` up to date. Returns a section that cannot be completed, if it meets one; then some are not.
  [[nodiscard]] std::optional<Section> evaluate();

  // The valley of a section.
  [[nodiscard]] SectionRange run_of(Section section) const;

  // Appends the candidates of a section of the valley `run`, twins but the first left out.
  void append_candidates(Section section, SectionRange run, std::vector<std::uint32_t>& out) const;

  // The lowest height that a buffer in `section` can have if none of its candidates lies at the present one; nothing if
  // no buffer can. Every buffer of a packing can be lowered until it rests on the floor or on another, so an offset is
  // an end, rounded up.
  [[nodiscard]] std::optional<std::int64_t> next_height(Section section, SectionRange part);

  // The lower wall of the run, of those that remaining buffers cross; nothing if there is none.
  [[nodiscard]] std::optional<std::int64_t> wall_of(SectionRange run) const;

  // Of heights and remaining buffers in `part`.
  [[nodiscard]] StateKey key_of(SectionRange part) const;

  // Sections and buffers looked at so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Move {
    std::uint32_t buffer = kNone;  // kNone: a lift
    Section section = 0;
    std::int64_t before = 0;
  };

  void link(std::uint32_t buffer);
  void unlink(std::uint32_t buffer);
  void set_height(Section section, std::int64_t height);
  void touch(Section begin, Section end);
  [[nodiscard]] Section end_of_run(Section begin, Section end) const;
  [[nodiscard]] std::optional<Section> evaluate_run(SectionRange run);
  void find_rests(Section section, SectionRange part);

  const SectionedProblem& problem_;
  ValleyRules rules_;
  std::int64_t exact_capacity_ = 0;
  std::int64_t capacity_ = 0;
  std::vector<std::int64_t> height_;     // by section
  std::vector<std::int64_t> remaining_;  // by section: bytes of remaining buffers
  std::vector<std::uint32_t> crossing_;  // by section: remaining buffers that live in it and in the one before it
  std::vector<std::uint32_t> candidates_;
  std::vector<std::uint32_t> first_;  // by section: first remaining buffer that begins there; doubly linked from there
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> previous_;
  std::vector<std::int64_t> offset_;  // by buffer
  std::vector<StateKey> height_key_;  // by section
  std::vector<StateKey> set_key_;     // by section, of the remaining buffers that begin there
  std::vector<StateKey> buffer_key_;
  std::vector<std::int32_t> count_change_;  // scratch of evaluate_run, by section
  std::vector<std::int64_t> bytes_change_;
  std::vector<std::int64_t> rest_;  // scratch of next_height, by section
  std::vector<Move> trail_;
  SectionRange touched_;  // sections changed since `evaluate`
  std::int64_t work_ = 0;
};

}  // namespace lowtide
