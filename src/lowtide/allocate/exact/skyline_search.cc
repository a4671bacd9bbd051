// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/skyline_search.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {

namespace {

// The rank of a clique by the rule `most_failures`. Compares the quotients without a division.
struct OptionsPerFailure {
  std::int64_t options = 0;
  std::int64_t failures = 1;
  std::int64_t bottom = 0;

  friend bool operator<(const OptionsPerFailure& a, const OptionsPerFailure& b) {
    return std::pair(a.options * b.failures, a.bottom) < std::pair(b.options * a.failures, b.bottom);
  }
};

}  // namespace

template <typename State>
SkylineSearch<State>::SkylineSearch(const Problem& problem, const SkylineRules& rules)
    : state_(problem, rules), rules_(rules), ranks_(problem.buffers.size()), failures_(problem.cliques(), 1) {
  std::iota(ranks_.begin(), ranks_.end(), 0U);
}

template <typename State>
void SkylineSearch<State>::set_capacity(std::int64_t capacity) {
  if (capacity > state_.capacity()) nogoods_.clear();
  state_.set_capacity(capacity);
}

template <typename State>
SearchOutcome SkylineSearch<State>::run(std::int64_t node_limit, std::int64_t work_limit,
                                        const std::function<bool()>& is_stopped) {
  state_.set_capacity(state_.capacity());
  frames_.clear();
  candidates_.clear();
  components_.clear();
  if (state_.evaluate()) return SearchOutcome::does_not_fit;
  // The first frame has no options. It holds the components of the whole problem.
  const Component whole = state_.whole();
  frames_.push_back({.component = whole, .components_mark = state_.components_mark()});
  split(whole);
  return search(nodes_ + node_limit, work() + work_limit, is_stopped);
}

template <typename State>
SearchOutcome SkylineSearch<State>::search(std::int64_t last_node, std::int64_t last_work,
                                           const std::function<bool()>& is_stopped) {
  while (true) {
    Frame& frame = frames_.back();
    bool failed = false;
    if (frame.next_component < components_.size()) {
      if (nodes_ >= last_node || work() >= last_work) return SearchOutcome::undecided;
      if (is_stopped && nodes_ % tuning::kSearchStopInterval == 0 && is_stopped()) return SearchOutcome::undecided;
      failed = open(components_[frame.next_component++]) == Opened::failed;
    } else {
      if (frames_.size() == 1) return SearchOutcome::fits;
      // All components under this option are solved, so the component of the decision is solved.
      close();
    }
    while (failed) {
      if (frames_.size() == 1) return SearchOutcome::does_not_fit;
      if (take_next_option(frames_.back())) break;
      if (rules_.nogoods) nogoods_.insert(frames_.back().key);
      close();
    }
  }
}

// Chooses the clique that is decided in the component, and takes its first option that is not an immediate dead end.
template <typename State>
typename SkylineSearch<State>::Opened SkylineSearch<State>::open(Component component) {
  ++nodes_;
  if (!state_.has_remaining(component)) return Opened::solved;
  Frame frame{.component = component,
              .mark = state_.mark(),
              .first_candidate = candidates_.size(),
              .first_component = components_.size(),
              .components_mark = state_.components_mark()};
  if (rules_.nogoods) {
    frame.key = state_.key_of(component);
    if (nogoods_.contains(frame.key)) return Opened::failed;
  }
  frame.clique = choose(component);
  collect_options(frame);
  frames_.push_back(frame);
  if (take_next_option(frames_.back())) return Opened::has_options;
  if (rules_.nogoods) nogoods_.insert(frame.key);
  close();
  return Opened::failed;
}

// Removes the last frame with its candidates and components.
template <typename State>
void SkylineSearch<State>::close() {
  const Frame& frame = frames_.back();
  components_.resize(frame.first_component);
  state_.forget_components(frame.components_mark);
  candidates_.resize(frame.first_candidate);
  frames_.pop_back();
}

// The rule is looked up once, and not for each clique. This makes the whole search a tenth faster.
template <typename State>
CliqueId SkylineSearch<State>::choose(Component component) {
  const auto options = [&](CliqueId clique) {
    return 2 * static_cast<std::int64_t>(state_.candidates(clique)) + (state_.slack(clique) > 0 ? 1 : 0);
  };
  switch (rule_) {
    case CliqueRule::fewest_options:
      return state_.choose(component,
                           [&](CliqueId clique) { return std::pair(options(clique), state_.bottom(clique)); });
    case CliqueRule::most_failures:
      return state_.choose(component, [&](CliqueId clique) {
        return OptionsPerFailure{options(clique), failures_[clique], state_.bottom(clique)};
      });
    case CliqueRule::least_slack:
      return state_.choose(component, [&](CliqueId clique) {
        return std::tuple(state_.slack(clique), options(clique), state_.bottom(clique));
      });
  }
  LOWTIDE_CHECK(false, "every rule is listed");
  return {};
}

template <typename State>
void SkylineSearch<State>::collect_options(Frame& frame) {
  state_.append_candidates(frame.clique, candidates_);
  std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(frame.first_candidate), candidates_.end(),
            [&](SearchBuffer a, SearchBuffer b) { return ranks_[a] < ranks_[b]; });
  frame.candidates = candidates_.size() - frame.first_candidate;
  frame.may_lift = state_.slack(frame.clique) > 0 || !rules_.slack;
}

template <typename State>
bool SkylineSearch<State>::take_next_option(Frame& frame) {
  const auto reset = [&] {
    state_.undo(frame.mark);
    components_.resize(frame.first_component);
    state_.forget_components(frame.components_mark);
  };
  const std::size_t options = frame.candidates + (frame.may_lift ? 1 : 0);
  while (frame.next_option < options) {
    reset();
    const std::size_t option = frame.next_option++;
    std::optional<SearchBuffer> candidate;
    if (option < frame.candidates) candidate = candidates_[frame.first_candidate + option];
    if (!apply(frame, candidate)) continue;
    frame.next_component = frame.first_component;
    if (candidate) {
      split(frame.component);
    } else {
      components_.push_back(frame.component);  // a lift removes no buffer, so it splits nothing
    }
    return true;
  }
  reset();
  return false;
}

// Assigns the candidate, or lifts the clique if there is none. Returns false if the move is a dead end.
template <typename State>
bool SkylineSearch<State>::apply(const Frame& frame, std::optional<SearchBuffer> candidate) {
  const bool is_possible =
      candidate ? state_.assign(frame.clique, *candidate) : state_.lift(frame.clique, frame.component);
  if (!is_possible) return false;
  const std::optional<CliqueId> dead = state_.evaluate();
  if (dead) ++failures_[*dead];
  return !dead;
}

template <typename State>
void SkylineSearch<State>::split(Component component) {
  if (rules_.components) {
    state_.split(component, components_);
  } else {
    components_.push_back(component);
  }
}

template class SkylineSearch<ValleyState>;
template class SkylineSearch<CoverState>;

namespace {

// A divisor of the height of every packing in which each buffer rests on the ground, on another movable buffer or on a
// fixed one.
std::int64_t grain_of(const CompressedProblem& problem) {
  std::int64_t grain = 0;
  for (PackingId id : problem.movable) {
    grain = std::gcd(grain, problem.buffers[id].size);
    if (problem.buffers[id].alignment() > 1) grain = std::gcd(grain, problem.buffers[id].alignment());
  }
  for (const CompressedProblem::FixedBuffer& fixed : problem.fixed) {
    grain = std::gcd(grain, fixed.offset + problem.buffers[fixed.id].size);
  }
  return std::max<std::int64_t>(grain, 1);
}

template <typename State>
SearchTask task_of(const CompressedProblem& compressed, const typename State::Problem& problem) {
  IdVector<CliqueId, std::int64_t> load(problem.cliques(), 0);
  for (SearchBuffer at : all_ids<SearchBuffer>(problem.buffers.size())) {
    for (CliqueId clique : problem.cliques_of(at)) load[clique] += problem.buffers[at].size;
  }
  SearchTask task{.grain = grain_of(compressed)};
  for (SearchBuffer at : all_ids<SearchBuffer>(problem.buffers.size())) {
    const auto cliques = problem.cliques_of(at);
    std::int64_t highest_load = 0;
    for (CliqueId clique : cliques) highest_load = std::max(highest_load, load[clique]);
    task.buffers.push_back(
        {problem.buffers[at].id, problem.buffers[at].size, static_cast<std::int64_t>(cliques.size()), highest_load});
  }
  task.make = [&problem] { return std::make_unique<SkylineSearch<State>>(problem, SkylineRules{}); };
  return task;
}

}  // namespace

SearchTask search_task(const CompressedProblem& compressed, const IntervalProblem& problem) {
  return task_of<ValleyState>(compressed, problem);
}

SearchTask search_task(const CompressedProblem& compressed, const CoverProblem& problem) {
  return task_of<CoverState>(compressed, problem);
}

}  // namespace lowtide::allocate_internal
