// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "lowtide/allocate/exact/cover_state.h"
#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/exact/refuted_states.h"

namespace lowtide {

// The valley search (valley_search.h) for problems without an order of sections: gaps, fixed buffers, relations. Depth
// first; takes a section that can be decided and asks who of its remaining buffers lies lowest in it: a candidate, at
// the floor of the section, or nobody lies there and the section is lifted.
//
// Complete, also with mixed alignments and blocked bytes: say that the remaining buffers can be placed, each at or
// above the floors of its sections. Take the placement with the least sum of offsets, and a section s that can be
// decided.
//   - If somebody of s lies at its floor, then it is a candidate, and placing it leaves a state that can be completed.
//   - If not, let b be the lowest one of s. No offset of b below is free, or the sum would not be least. So b is at its
//   low,
//     above the floor, or rests (rounded up) on a blocked range, or on another remaining buffer c. c shares a section t
//     with b, and b is a candidate. All sections of candidates have the floor of s, since s can be decided: so c lies
//     at or above it. c is not in s, or it would be lower than b. CoverState::next_floor is the least of all these, so
//     lifting s to it leaves a state that can be completed.
// There is always a section that can be decided: one with the least floor of all. For the sections of a candidate
// contain that candidate, so their floors are no higher. Every move takes a buffer away or raises a floor below the
// capacity, so the search ends.
// No recursion; memory O(members of all sections), and what RefutedStates takes.
class CoverSearch final : public FitSearch {
 public:
  // `problem` must outlive the search.
  CoverSearch(const CoverProblem& problem, const CoverRules& rules);

  void set_capacity(std::int64_t capacity) override;
  void set_ranks(std::vector<std::uint32_t> ranks) override { ranks_ = std::move(ranks); }
  void set_rule(SectionRule rule) override { rule_ = rule; }
  SearchOutcome run(std::int64_t node_limit, std::int64_t work_limit,
                    const std::function<bool()>& is_stopped = {}) override;
  // By the index of CoverProblem::buffers.
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const override { return state_.offset(buffer); }
  [[nodiscard]] std::int64_t work() const override { return state_.work() + work_; }
  [[nodiscard]] std::int64_t nodes() const override { return nodes_; }

 private:
  static constexpr std::uint32_t kLift = ~std::uint32_t{0};

  // Sections that remaining buffers join, and that none joins to others: [first, last) of `part_sections_`.
  struct Part {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  // A decision under way: its options, and the parts that are left to solve under the present one.
  struct Frame {
    Part part;
    std::uint32_t section = 0;
    CoverState::Mark mark;  // before its first option
    std::size_t first_option = 0;
    std::size_t options = 0;
    std::size_t next_option = 0;
    std::size_t first_part = 0;
    std::size_t next_part = 0;
    std::size_t first_section = 0;  // of the parts
    StateKey key = {};
  };
  enum class Step : std::uint8_t { solved, opened, failed };

  SearchOutcome search(std::int64_t last_node, std::int64_t last_work, const std::function<bool()>& is_stopped);
  Step open(Part part);
  bool take_next_option(Frame& frame);
  bool apply(const Frame& frame, std::uint32_t option);
  void close(const Frame& frame);
  void split(Part part);
  void collect_part(std::uint32_t from);
  [[nodiscard]] std::uint32_t choose(std::span<const std::uint32_t> part);
  [[nodiscard]] bool is_better(std::uint32_t section, std::uint32_t than) const;
  void collect_options(Frame& frame);

  [[nodiscard]] std::span<const std::uint32_t> sections_of(Part part) const {
    return {part_sections_.data() + part.first, part.last - part.first};
  }

  const CoverProblem& problem_;
  CoverState state_;
  CoverRules rules_;
  SectionRule rule_ = SectionRule::fewest_options;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::int64_t> failures_;  // by section, from 1
  RefutedStates refuted_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> options_;        // of all frames
  std::vector<Part> parts_;                   // of all frames
  std::vector<std::uint32_t> part_sections_;  // of all parts
  std::vector<std::uint32_t> seen_section_;   // scratch of split
  std::vector<std::uint32_t> seen_buffer_;
  std::uint32_t seen_ = 0;
  std::int64_t nodes_ = 0;
  std::int64_t work_ = 0;
};

// Require: both outlive the task, and `cover` is of the problem.
[[nodiscard]] SearchTask search_task(const CompressedProblem& problem, const CoverProblem& cover);

}  // namespace lowtide
