// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "lowtide/allocate/exact/cover_state.h"
#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/exact/nogood_table.h"
#include "lowtide/allocate/exact/skyline_rules.h"
#include "lowtide/allocate/exact/valley_state.h"
#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

// Depth-first search for offsets below a capacity. It builds a packing upwards: every clique has a floor, the lowest
// offset that a remaining buffer can still have there. A decision takes one clique and asks which of its buffers is
// the lowest. Either one of the candidates lies at the floor, or none does, and the floor is lifted. Then the search
// continues with the parts that no remaining buffer joins, one after another: if one part fails, the others are not
// tried again.
//
// The idea that a packing can be built upwards, with every buffer resting on another one, is from Moffitt,
// "MiniMalloc", ASPLOS 2023. That search chooses a buffer, by ascending offset. This one chooses the clique that is
// most constrained.
//
// What is decided and what follows from it is the State's affair. There are two: ValleyState for plain lifespans, where
// the cliques stand in a row, and CoverState for everything else. The proof that the search is complete stands with
// each of them, since it says which cliques can be decided. Without a limit the search ends with `fits` or
// `does_not_fit`. No recursion; memory O(members of all cliques), and the table of nogoods.
//
// State provides:
//   Problem, Part, Mark           the problem's form; cliques that belong together; a point to go back to
//   set_capacity(c), capacity()   forgets all decisions
//   whole()                       all cliques
//   has_remaining(part)           false if the part is solved; cuts off what is solved at its ends
//   choose(part, is_better)       the best of the cliques that can be decided
//   candidates, slack, floor      of a clique
//   append_candidates(s, out)     the buffers that can lie lowest in the clique, once each if interchangeable
//   place(s, buffer)              puts a candidate at the floor; false if it ends above the capacity
//   lift(s, part)                 to the next offset at which a buffer could lie; false if there is none
//   evaluate()                    a clique that cannot be completed, if there is one
//   split(part, parts)            appends the parts that remaining buffers join, the smallest first
//   mark(), undo(mark)            decisions, undone in reverse order
//   parts_mark(), forget_parts()  storage of parts
//   key_of(part)                  identifies what is decided in a part
template <typename State>
class SkylineSearch final : public FitSearch {
 public:
  using Problem = typename State::Problem;

  // `problem` must outlive the search.
  SkylineSearch(const Problem& problem, const SkylineRules& rules);

  void set_capacity(std::int64_t capacity) override;
  void set_ranks(std::vector<std::uint32_t> ranks) override { ranks_ = std::move(ranks); }
  void set_rule(CliqueRule rule) override { rule_ = rule; }
  SearchOutcome run(std::int64_t node_limit, std::int64_t work_limit,
                    const std::function<bool()>& is_stopped = {}) override;
  // By the index of Problem::buffers.
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const override { return state_.offset(buffer); }
  [[nodiscard]] std::int64_t work() const override { return state_.work(); }
  [[nodiscard]] std::int64_t nodes() const override { return nodes_; }

 private:
  static constexpr std::uint32_t kLift = ~std::uint32_t{0};
  using Part = typename State::Part;

  // A decision that is being tried: its options, and the parts that are left to solve under the present option.
  struct Frame {
    Part part;
    std::uint32_t clique = 0;
    typename State::Mark mark = {};  // before its first option
    std::size_t first_option = 0;    // index into `options_`
    std::size_t options = 0;
    std::size_t next_option = 0;
    std::size_t first_part = 0;  // index into `parts_`
    std::size_t next_part = 0;
    std::size_t parts_mark = 0;  // of the state
    StateKey key = {};
  };

  enum class Step : std::uint8_t { solved, opened, failed };

  SearchOutcome search(std::int64_t last_node, std::int64_t last_work, const std::function<bool()>& is_stopped);
  Step open(Part part);
  void close();
  bool take_next_option(Frame& frame);
  bool apply(const Frame& frame, std::uint32_t option);
  void split(Part part);
  [[nodiscard]] bool is_better(std::uint32_t clique, std::uint32_t than) const;
  void collect_options(Frame& frame);

  State state_;
  SkylineRules rules_;
  CliqueRule rule_ = CliqueRule::fewest_options;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::int64_t> failures_;  // by clique, from 1
  NogoodTable nogoods_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> options_;  // of all frames
  std::vector<Part> parts_;             // of all frames
  std::int64_t nodes_ = 0;
};

extern template class SkylineSearch<ValleyState>;
extern template class SkylineSearch<CoverState>;

// The searches by what they work on.
using ValleySearch = SkylineSearch<ValleyState>;
using CoverSearch = SkylineSearch<CoverState>;

// `compressed` is the problem that the other argument was made of. Both must outlive the task.
[[nodiscard]] SearchTask search_task(const CompressedProblem& compressed, const IntervalProblem& problem);
[[nodiscard]] SearchTask search_task(const CompressedProblem& compressed, const CoverProblem& problem);

}  // namespace lowtide::allocate_internal
