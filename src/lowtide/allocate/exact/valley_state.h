// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lowtide/allocate/exact/nogood_table.h"
#include "lowtide/allocate/exact/sections.h"
#include "lowtide/allocate/exact/skyline_rules.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {

// Sections [begin, end).
struct SectionRange {
  Section begin = 0;
  Section end = 0;
};

// The state of a SkylineSearch over plain lifespans: for each section the height below which nothing will be placed any
// more, and the buffers that remain. Two moves change it, and both are undone in reverse order.
//
//   place(b)      if all sections of b have the same height, b lies there and raises them by its size
//   lift(s, to)   no remaining buffer of s lies below `to`
//
// A run is a maximal row of sections of one height that remaining buffers join. A run is a valley if no remaining
// buffer reaches from it into a lower section. Take a section s of a valley, and the buffer that lies lowest in s.
// Either this buffer lives within the valley and lies at its height, or no buffer lies there and s can be lifted. These
// are the options of s, and one of them holds in every packing in which buffers rest on each other. That is true for
// each section of each valley, so the search is free to choose the section.
//
//      |    |       |xx|
//      |xx  |   b   |xx|      The sections below b are a valley. b lives within it and is an option. A buffer that also
//      |xxxx|_______|xx|      lives in a section of the walls would leave a hole.
//
// Cost: place and lift O(length of the buffer); evaluate O(sections and remaining buffers of the runs that changed).
class ValleyState {
 public:
  using Problem = SectionedProblem;
  using Part = SectionRange;
  using Mark = std::size_t;

  // `problem` must outlive the state.
  ValleyState(const SectionedProblem& problem, const SkylineRules& rules);

  // Undoes all decisions.
  void set_capacity(std::int64_t capacity);
  [[nodiscard]] std::int64_t capacity() const { return exact_capacity_; }

  [[nodiscard]] std::int64_t floor(Section section) const { return height_[section]; }
  // Bytes of the section that may stay unused. Below 0, the section cannot hold what remains.
  [[nodiscard]] std::int64_t slack(Section section) const { return capacity_ - height_[section] - remaining_[section]; }
  // Buffers that may lie lowest in the section. As of `evaluate`. Requires: `choose` may return the section.
  [[nodiscard]] std::uint32_t candidates(Section section) const { return candidates_[section]; }
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const { return offset_[buffer]; }

  [[nodiscard]] SectionRange whole() const { return {0, problem_.section_count}; }
  // Cuts off sections without remaining buffers at both ends.
  [[nodiscard]] bool has_remaining(SectionRange& part) const;

  // The best section of a valley.
  template <typename IsBetter>
  [[nodiscard]] Section choose(SectionRange part, IsBetter&& is_better) {
    std::optional<Section> best;
    work_ += (part.end - part.begin) / 4;
    for (Section section = part.begin; section < part.end; ++section) {
      if (candidates_[section] == kNotInValley) continue;
      if (!best || is_better(section, *best)) best = section;
    }
    LOWTIDE_CHECK(best.has_value(), "the lowest sections of a part are a valley");
    return *best;
  }

  // Appends the candidates of a section of a valley. Of interchangeable ones, only the first.
  void append_candidates(Section section, std::vector<std::uint32_t>& out) const;

  // Puts a candidate at the floor of the section. Returns false if its bytes, without padding, end above the capacity.
  bool place(Section section, std::uint32_t buffer);
  // Lifts the section to the next height that a buffer can have. Returns false if what remains does not fit above it.
  bool lift(Section section, SectionRange part);
  // Brings `candidates` up to date. Returns a section that cannot be completed if it finds one; others are then not up
  // to date.
  [[nodiscard]] std::optional<Section> evaluate();

  // Appends the parts that remaining buffers join, the shortest first: if it fails, it fails soonest.
  void split(SectionRange part, std::vector<SectionRange>& parts) const;

  [[nodiscard]] Mark mark() const { return trail_.size(); }
  void undo(Mark mark);
  // A part needs no storage.
  [[nodiscard]] std::size_t parts_mark() const { return 0; }
  void forget_parts(std::size_t /*mark*/) {}

  // Of heights and remaining buffers in `part`.
  [[nodiscard]] StateKey key_of(SectionRange part) const;

  // Sections and buffers looked at so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr std::uint32_t kNotInValley = std::numeric_limits<std::uint32_t>::max();
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
  [[nodiscard]] SectionRange run_of(Section section) const;
  [[nodiscard]] std::optional<std::int64_t> wall_of(SectionRange run) const;
  [[nodiscard]] std::optional<std::int64_t> next_height(Section section, SectionRange part);
  void find_rests(Section section, SectionRange part);

  const SectionedProblem& problem_;
  SkylineRules rules_;
  std::int64_t exact_capacity_ = 0;
  std::int64_t capacity_ = 0;              // rounded up to whole units
  std::vector<std::int64_t> height_;       // by section
  std::vector<std::int64_t> remaining_;    // by section: bytes of remaining buffers
  std::vector<std::uint32_t> crossing_;    // by section: remaining buffers that live in it and in the one before it
  std::vector<std::uint32_t> candidates_;  // by section; kNotInValley if it cannot be decided
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

}  // namespace lowtide::allocate_internal
