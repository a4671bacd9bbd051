// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/skyline_search.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>

#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
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
  options_.clear();
  parts_.clear();
  if (state_.evaluate()) return SearchOutcome::does_not_fit;
  // A frame without options holds the parts of the whole.
  const Part whole = state_.whole();
  frames_.push_back({.part = whole, .parts_mark = state_.parts_mark()});
  split(whole);
  return search(nodes_ + node_limit, work() + work_limit, is_stopped);
}

template <typename State>
SearchOutcome SkylineSearch<State>::search(std::int64_t last_node, std::int64_t last_work,
                                           const std::function<bool()>& is_stopped) {
  while (true) {
    Frame& frame = frames_.back();
    bool failed = false;
    if (frame.next_part < parts_.size()) {
      if (nodes_ >= last_node || work() >= last_work) return SearchOutcome::undecided;
      if (is_stopped && nodes_ % tuning::kSearchStopInterval == 0 && is_stopped()) return SearchOutcome::undecided;
      failed = open(parts_[frame.next_part++]) == Step::failed;
    } else {
      if (frames_.size() == 1) return SearchOutcome::fits;
      // All parts under this option are solved, and therefore the part that asked for the decision.
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

// Chooses what to decide in the part and takes the first option that is not an immediate dead end.
template <typename State>
typename SkylineSearch<State>::Step SkylineSearch<State>::open(Part part) {
  ++nodes_;
  if (!state_.has_remaining(part)) return Step::solved;
  Frame frame{.part = part,
              .mark = state_.mark(),
              .first_option = options_.size(),
              .first_part = parts_.size(),
              .parts_mark = state_.parts_mark()};
  if (rules_.nogoods) {
    frame.key = state_.key_of(part);
    if (nogoods_.contains(frame.key)) return Step::failed;
  }
  frame.clique = state_.choose(part, [&](std::uint32_t a, std::uint32_t b) { return is_better(a, b); });
  collect_options(frame);
  frames_.push_back(frame);
  if (take_next_option(frames_.back())) return Step::opened;
  if (rules_.nogoods) nogoods_.insert(frame.key);
  close();
  return Step::failed;
}

// Forgets the last frame with its options and parts.
template <typename State>
void SkylineSearch<State>::close() {
  const Frame& frame = frames_.back();
  parts_.resize(frame.first_part);
  state_.forget_parts(frame.parts_mark);
  options_.resize(frame.first_option);
  frames_.pop_back();
}

template <typename State>
bool SkylineSearch<State>::is_better(std::uint32_t a, std::uint32_t b) const {
  const auto options = [&](std::uint32_t clique) {
    return 2 * static_cast<std::int64_t>(state_.candidates(clique)) + (state_.slack(clique) > 0 ? 1 : 0);
  };
  switch (rule_) {
    case CliqueRule::fewest_options:
      return std::tuple(options(a), state_.floor(a)) < std::tuple(options(b), state_.floor(b));
    case CliqueRule::most_failures:
      return std::tuple(options(a) * failures_[b], state_.floor(a)) <
             std::tuple(options(b) * failures_[a], state_.floor(b));
    case CliqueRule::least_slack:
      return std::tuple(state_.slack(a), options(a), state_.floor(a)) <
             std::tuple(state_.slack(b), options(b), state_.floor(b));
  }
  LOWTIDE_CHECK(false, "every rule is listed");
  return false;
}

template <typename State>
void SkylineSearch<State>::collect_options(Frame& frame) {
  state_.append_candidates(frame.clique, options_);
  std::sort(options_.begin() + static_cast<std::ptrdiff_t>(frame.first_option), options_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ranks_[a] < ranks_[b]; });
  if (state_.slack(frame.clique) > 0 || !rules_.slack) options_.push_back(kLift);
  frame.options = options_.size() - frame.first_option;
}

template <typename State>
bool SkylineSearch<State>::take_next_option(Frame& frame) {
  const auto reset = [&] {
    state_.undo(frame.mark);
    parts_.resize(frame.first_part);
    state_.forget_parts(frame.parts_mark);
  };
  while (frame.next_option < frame.options) {
    reset();
    const std::uint32_t option = options_[frame.first_option + frame.next_option++];
    if (!apply(frame, option)) continue;
    frame.next_part = frame.first_part;
    if (option == kLift) {
      parts_.push_back(frame.part);  // no buffer has left it, so it does not fall into parts
    } else {
      split(frame.part);
    }
    return true;
  }
  reset();
  return false;
}

// Returns false if the move is a dead end.
template <typename State>
bool SkylineSearch<State>::apply(const Frame& frame, std::uint32_t option) {
  const bool is_possible = option == kLift ? state_.lift(frame.clique, frame.part) : state_.place(frame.clique, option);
  if (!is_possible) return false;
  const std::optional<std::uint32_t> dead = state_.evaluate();
  if (dead) ++failures_[*dead];
  return !dead;
}

template <typename State>
void SkylineSearch<State>::split(Part part) {
  if (rules_.components) {
    state_.split(part, parts_);
  } else {
    parts_.push_back(part);
  }
}

template class SkylineSearch<ValleyState>;
template class SkylineSearch<CoverState>;

namespace {

// Every height of a packing in which each buffer rests on the ground, on an aligned offset above another one, or on a
// fixed one is a multiple of this.
std::int64_t grain_of(const CompressedProblem& problem) {
  std::int64_t grain = 0;
  for (PackingId id : problem.movable) {
    grain = std::gcd(grain, problem.buffers[id].size);
    if (problem.buffers[id].alignment > 1) grain = std::gcd(grain, problem.buffers[id].alignment);
  }
  for (PackingId id : problem.fixed) {
    grain = std::gcd(grain, problem.buffers[id].fixed_offset + problem.buffers[id].size);
  }
  return std::max<std::int64_t>(grain, 1);
}

template <typename State>
SearchTask task_of(const CompressedProblem& compressed, const typename State::Problem& problem) {
  std::vector<std::int64_t> load(problem.cliques(), 0);
  for (std::uint32_t at = 0; at < problem.buffers.size(); ++at) {
    for (std::uint32_t clique : problem.cliques_of(at)) load[clique] += problem.buffers[at].size;
  }
  SearchTask task{.grain = grain_of(compressed)};
  for (std::uint32_t at = 0; at < problem.buffers.size(); ++at) {
    const auto cliques = problem.cliques_of(at);
    std::int64_t crowd = 0;
    for (std::uint32_t clique : cliques) crowd = std::max(crowd, load[clique]);
    task.buffers.push_back(
        {problem.buffers[at].id, problem.buffers[at].size, static_cast<std::int64_t>(cliques.size()), crowd});
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
