// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/allocate/exact/cover_state.h"
#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/exact/nogood_table.h"
#include "lowtide/allocate/exact/skyline_rules.h"
#include "lowtide/allocate/exact/valley_state.h"
#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

// Depth-first search for offsets below a capacity. It builds a packing upwards. Every clique has a bottom, the lowest
// offset that one of its remaining buffers can still have. A decision takes one clique and asks which of its buffers is
// the lowest. Either one of the candidates lies at the bottom, or none does and the bottom is lifted. Then the cliques
// split into components that share no remaining buffer, and the search solves one component after another. If one
// component fails, the others are not tried again.
//
// The idea of building a packing upwards, with every buffer resting on another one, is from Moffitt, "MiniMalloc",
// ASPLOS 2023. That search chooses buffers, by ascending offset. This one chooses the clique that is most constrained.
//
// The State holds what is decided and what follows from it. ValleyState is for plain lifespans, where the cliques have
// an order, and CoverState is for everything else. Each of them defines which cliques can be decided, and proves that
// the search is complete. Without a limit the search ends with `fits` or `does_not_fit`. It does not recurse. Memory:
// O(members of all cliques), plus the table of nogoods.
//
// A State provides:
//   Problem, Component, Mark      the form of the problem; cliques that remaining buffers connect; a point to return to
//   set_capacity(c), capacity()   undoes all decisions
//   whole()                       all cliques
//   has_remaining(component)      false if the component is solved; may cut solved cliques off at its ends
//   choose(component, rank_of)    the clique with the least rank among those that can be decided
//   candidates, slack, bottom     of a clique
//   append_candidates(clique, out)   the buffers that can lie lowest in it; of interchangeable ones only the first
//   assign(clique, buffer)        assigns a candidate the bottom; false if it ends above the capacity
//   lift(clique, component)       to the next offset that a buffer could have; false if there is none
//   evaluate()                    a clique that cannot be completed, if there is one
//   split(component, components)  appends the components that remaining buffers connect, the smallest first
//   mark(), undo(mark)            undoes decisions in reverse order
//   components_mark(), forget_components(mark)   the storage of components
//   key_of(component)             identifies what is decided in a component
template <typename State>
class SkylineSearch final : public FitSearch {
 public:
  using Problem = typename State::Problem;

  // `problem` must outlive the search.
  SkylineSearch(const Problem& problem, const SkylineRules& rules);

  void set_capacity(std::int64_t capacity) override;
  void set_ranks(IdVector<SearchBuffer, std::uint32_t> ranks) override { ranks_ = std::move(ranks); }
  void set_rule(CliqueRule rule) override { rule_ = rule; }
  SearchOutcome run(std::int64_t node_limit, std::int64_t work_limit,
                    const std::function<bool()>& is_stopped = {}) override;
  [[nodiscard]] std::int64_t offset(SearchBuffer buffer) const override { return state_.offset(buffer); }
  [[nodiscard]] std::int64_t work() const override { return state_.work(); }
  [[nodiscard]] std::int64_t nodes() const override { return nodes_; }

 private:
  using Component = typename State::Component;

  // A decision that is being tried. Its options are its candidates, followed by the lift. Its components are those that
  // the current option leaves to be solved.
  struct Frame {
    Component component;
    CliqueId clique = {};
    typename State::Mark mark = {};   // before its first option
    std::size_t first_candidate = 0;  // index into `candidates_`
    std::size_t candidates = 0;
    bool may_lift = false;
    std::size_t next_option = 0;      // from 0
    std::size_t first_component = 0;  // index into `components_`
    std::size_t next_component = 0;
    std::size_t components_mark = 0;  // of the state
    StateKey key = {};
  };

  enum class Opened : std::uint8_t { solved, has_options, failed };

  SearchOutcome search(std::int64_t last_node, std::int64_t last_work, const std::function<bool()>& is_stopped);
  Opened open(Component component);
  void close();
  bool take_next_option(Frame& frame);
  bool apply(const Frame& frame, std::optional<SearchBuffer> candidate);
  void split(Component component);
  [[nodiscard]] CliqueId choose(Component component);
  void collect_options(Frame& frame);

  State state_;
  SkylineRules rules_;
  CliqueRule rule_ = CliqueRule::fewest_options;
  IdVector<SearchBuffer, std::uint32_t> ranks_;
  IdVector<CliqueId, std::int64_t> failures_;  // 1 + the dead ends met in the clique
  NogoodTable nogoods_;
  std::vector<Frame> frames_;
  std::vector<SearchBuffer> candidates_;  // of all frames
  std::vector<Component> components_;     // of all frames
  std::int64_t nodes_ = 0;
};

extern template class SkylineSearch<ValleyState>;
extern template class SkylineSearch<CoverState>;

using ValleySearch = SkylineSearch<ValleyState>;
using CoverSearch = SkylineSearch<CoverState>;

// Requires: the second argument was made from `compressed`. Both must outlive the task.
[[nodiscard]] SearchTask search_task(const CompressedProblem& compressed, const IntervalProblem& problem);
[[nodiscard]] SearchTask search_task(const CompressedProblem& compressed, const CoverProblem& problem);

}  // namespace lowtide::allocate_internal
