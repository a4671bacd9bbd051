// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/exact/refuted_states.h"
#include "lowtide/allocate/exact/sections.h"
#include "lowtide/allocate/exact/valley_state.h"

namespace lowtide {

// Depth-first search for offsets below a capacity. Takes a section that must be decided, tries its options, and goes on
// with the parts that no remaining buffer joins, one after the other: where one fails, the others are not tried again.
// Complete: without a limit it ends with `fits` or `does_not_fit`. Source of the idea that a packing can be built
// upwards with every buffer resting on another: Moffitt, "MiniMalloc", ASPLOS 2023; that search chooses a buffer, by
// ascending offset, this one a section, by what constrains most.
// No recursion; memory O(buffers + sections), and what RefutedStates takes.
class ValleySearch final : public FitSearch {
 public:
  // `problem` must outlive the search.
  ValleySearch(const SectionedProblem& problem, const ValleyRules& rules);

  void set_capacity(std::int64_t capacity) override;
  void set_ranks(std::vector<std::uint32_t> ranks) override { ranks_ = std::move(ranks); }
  void set_rule(SectionRule rule) override { rule_ = rule; }
  SearchOutcome run(std::int64_t node_limit, std::int64_t work_limit,
                    const std::function<bool()>& is_stopped = {}) override;
  // By the index of SectionedProblem::buffers.
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const override { return state_.offset(buffer); }
  [[nodiscard]] std::int64_t work() const override { return state_.work() + work_; }
  [[nodiscard]] std::int64_t nodes() const override { return nodes_; }

 private:
  static constexpr std::uint32_t kLift = ~std::uint32_t{0};

  // A decision under way: its options, and the parts that are left to solve under the present one.
  struct Frame {
    SectionRange part;
    Section section = 0;
    std::size_t mark = 0;  // of the state, before its first option
    std::size_t first_option = 0;
    std::size_t options = 0;
    std::size_t next_option = 0;
    std::size_t first_part = 0;
    std::size_t next_part = 0;
    StateKey key = {};
  };

  enum class Step : std::uint8_t { solved, opened, failed };

  SearchOutcome search(std::int64_t last_node, std::int64_t last_work, const std::function<bool()>& is_stopped);
  Step open(SectionRange part);
  bool take_next_option(Frame& frame);
  bool apply(const Frame& frame, std::uint32_t option);
  void split(SectionRange part);
  [[nodiscard]] Section choose(SectionRange part);
  [[nodiscard]] bool is_better(Section section, Section than) const;
  void collect_options(Frame& frame);

  ValleyState state_;
  ValleyRules rules_;
  SectionRule rule_ = SectionRule::fewest_options;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::int64_t> failures_;  // by section, from 1
  RefutedStates refuted_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> options_;  // of all frames
  std::vector<SectionRange> parts_;     // of all frames
  std::int64_t nodes_ = 0;
  std::int64_t work_ = 0;
};

// Require: `problem` outlives the task.
[[nodiscard]] SearchTask search_task(const SectionedProblem& problem);

}  // namespace lowtide
