// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/valley_search.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>

#include "lowtide/base/check.h"

namespace lowtide {
namespace {

constexpr std::int64_t kDecisionsBetweenLooks = 256;  // at whether somebody stops the search

}  // namespace

ValleySearch::ValleySearch(const SectionedProblem& problem, const ValleyRules& rules)
    : state_(problem, rules), rules_(rules), ranks_(problem.buffers.size()), failures_(problem.sections, 1) {
  std::iota(ranks_.begin(), ranks_.end(), 0U);
}

void ValleySearch::set_capacity(std::int64_t capacity) {
  if (capacity > state_.exact_capacity()) refuted_.clear();
  state_.undo(0);
  state_.set_capacity(capacity);
}

SearchOutcome ValleySearch::run(std::int64_t node_limit, std::int64_t work_limit,
                                const std::function<bool()>& is_stopped) {
  state_.undo(0);
  state_.touch_all();
  frames_.clear();
  options_.clear();
  parts_.clear();
  if (state_.evaluate()) return SearchOutcome::does_not_fit;
  // A frame without options holds the parts of the whole.
  frames_.push_back({.part = {0, state_.problem().sections}});
  split(frames_.front().part);
  return search(nodes_ + node_limit, work() + work_limit, is_stopped);
}

SearchOutcome ValleySearch::search(std::int64_t last_node, std::int64_t last_work,
                                   const std::function<bool()>& is_stopped) {
  while (true) {
    Frame& frame = frames_.back();
    bool failed = false;
    if (frame.next_part < parts_.size()) {
      if (nodes_ >= last_node || work() >= last_work) return SearchOutcome::undecided;
      if (nodes_ % kDecisionsBetweenLooks == 0 && is_stopped && is_stopped()) return SearchOutcome::undecided;
      failed = open(parts_[frame.next_part++]) == Step::failed;
    } else {
      if (frames_.size() == 1) return SearchOutcome::fits;
      // All parts under this option are solved: so is the part that asked for the decision.
      parts_.resize(frame.first_part);
      options_.resize(frame.first_option);
      frames_.pop_back();
    }
    while (failed) {
      if (frames_.size() == 1) return SearchOutcome::does_not_fit;
      if (take_next_option(frames_.back())) break;
      if (rules_.memory) refuted_.insert(frames_.back().key);
      options_.resize(frames_.back().first_option);
      frames_.pop_back();
    }
  }
}

// Chooses what to decide in the part and takes the first option that is not a dead end at once.
ValleySearch::Step ValleySearch::open(SectionRange part) {
  ++nodes_;
  while (part.begin < part.end && state_.remaining(part.begin) == 0) ++part.begin;
  while (part.end > part.begin && state_.remaining(part.end - 1) == 0) --part.end;
  if (part.begin == part.end) return Step::solved;
  Frame frame{.part = part, .mark = state_.mark(), .first_option = options_.size(), .first_part = parts_.size()};
  if (rules_.memory) {
    frame.key = state_.key_of(part);
    if (refuted_.contains(frame.key)) return Step::failed;
  }
  frame.section = choose(part);
  collect_options(frame);
  frames_.push_back(frame);
  if (take_next_option(frames_.back())) return Step::opened;
  if (rules_.memory) refuted_.insert(frame.key);
  options_.resize(frame.first_option);
  frames_.pop_back();
  return Step::failed;
}

bool ValleySearch::is_better(Section a, Section b) const {
  const auto options = [&](Section section) {
    return 2 * static_cast<std::int64_t>(state_.candidates(section)) + (state_.slack(section) > 0 ? 1 : 0);
  };
  switch (rule_) {
    case SectionRule::fewest_options:
      return std::tuple(options(a), state_.height(a)) < std::tuple(options(b), state_.height(b));
    case SectionRule::most_failures:
      return std::tuple(options(a) * failures_[b], state_.height(a)) <
             std::tuple(options(b) * failures_[a], state_.height(b));
    case SectionRule::least_slack:
      return std::tuple(state_.slack(a), options(a), state_.height(a)) <
             std::tuple(state_.slack(b), options(b), state_.height(b));
  }
  LOWTIDE_CHECK(false, "every rule is listed");
  return false;
}

Section ValleySearch::choose(SectionRange part) {
  std::optional<Section> best;
  work_ += (part.end - part.begin) / 4;
  for (Section section = part.begin; section < part.end; ++section) {
    if (state_.candidates(section) == ValleyState::kNotInValley) continue;
    if (!best || is_better(section, *best)) best = section;
  }
  LOWTIDE_CHECK(best.has_value(), "the lowest sections of a part are a valley");
  return *best;
}

void ValleySearch::collect_options(Frame& frame) {
  const SectionRange run = state_.run_of(frame.section);
  state_.append_candidates(frame.section, run, options_);
  std::sort(options_.begin() + static_cast<std::ptrdiff_t>(frame.first_option), options_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ranks_[a] < ranks_[b]; });
  if (state_.slack(frame.section) > 0 || !rules_.slack) options_.push_back(kLift);
  frame.options = options_.size() - frame.first_option;
}

bool ValleySearch::take_next_option(Frame& frame) {
  while (frame.next_option < frame.options) {
    state_.undo(frame.mark);
    parts_.resize(frame.first_part);
    if (apply(frame, options_[frame.first_option + frame.next_option++])) {
      frame.next_part = frame.first_part;
      split(frame.part);
      return true;
    }
  }
  state_.undo(frame.mark);
  parts_.resize(frame.first_part);
  return false;
}

// False if the move is a dead end.
bool ValleySearch::apply(const Frame& frame, std::uint32_t option) {
  if (option == kLift) {
    const std::optional<std::int64_t> to = state_.next_height(frame.section, frame.part);
    const std::int64_t needed = rules_.slack ? state_.remaining(frame.section) : 0;
    if (!to || *to + needed > state_.capacity()) return false;
    state_.lift(frame.section, *to);
  } else {
    if (!state_.has_room(option, state_.height(frame.section))) return false;
    state_.place(option, state_.height(frame.section));
  }
  const std::optional<Section> dead = state_.evaluate();
  if (dead) ++failures_[*dead];
  return !dead;
}

// Appends the parts that remaining buffers hold together, the shortest first: it fails soonest, if it does.
void ValleySearch::split(SectionRange part) {
  const std::size_t first = parts_.size();
  if (!rules_.components) {
    parts_.push_back(part);
    return;
  }
  for (Section begin = part.begin; begin < part.end;) {
    Section end = begin + 1;
    while (end < part.end && state_.joined(end)) ++end;
    if (state_.remaining(begin) > 0) parts_.push_back({begin, end});
    begin = end;
  }
  if (parts_.size() - first < 2) return;
  std::sort(parts_.begin() + static_cast<std::ptrdiff_t>(first), parts_.end(), [](SectionRange a, SectionRange b) {
    return std::tuple(a.end - a.begin, a.begin) < std::tuple(b.end - b.begin, b.begin);
  });
}

SearchTask search_task(const SectionedProblem& problem) {
  std::vector<std::int64_t> load(problem.sections, 0);
  for (const SectionedProblem::Buffer& buffer : problem.buffers) {
    for (Section section = buffer.begin; section < buffer.end; ++section) load[section] += buffer.size;
  }
  SearchTask task;
  std::int64_t grain = problem.unit > 1 ? problem.unit : 0;
  for (const SectionedProblem::Buffer& buffer : problem.buffers) {
    const std::int64_t crowd = *std::max_element(load.begin() + buffer.begin, load.begin() + buffer.end);
    task.buffers.push_back({buffer.id, buffer.size, buffer.end - buffer.begin, crowd});
    grain = std::gcd(grain, buffer.size - buffer.padding);
    if (buffer.alignment > 1) grain = std::gcd(grain, buffer.alignment);
  }
  task.grain = std::max<std::int64_t>(grain, 1);
  task.make = [&problem] { return std::make_unique<ValleySearch>(problem, ValleyRules{}); };
  return task;
}

}  // namespace lowtide
