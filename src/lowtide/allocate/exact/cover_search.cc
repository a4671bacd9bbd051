// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/cover_search.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>

#include "lowtide/base/check.h"

namespace lowtide {

CoverSearch::CoverSearch(const CoverProblem& problem, const CoverRules& rules)
    : problem_(problem),
      state_(problem, rules),
      rules_(rules),
      ranks_(problem.buffers.size()),
      failures_(problem.sections(), 1),
      seen_section_(problem.sections(), 0),
      seen_buffer_(problem.buffers.size(), 0) {
  std::iota(ranks_.begin(), ranks_.end(), 0U);
}

void CoverSearch::set_capacity(std::int64_t capacity) {
  if (capacity > state_.capacity()) refuted_.clear();
  state_.undo({});
  state_.set_capacity(capacity);
}

SearchOutcome CoverSearch::run(std::int64_t node_limit, std::int64_t work_limit,
                               const std::function<bool()>& is_stopped) {
  state_.undo({});
  state_.set_capacity(state_.capacity());
  frames_.clear();
  options_.clear();
  parts_.clear();
  if (state_.evaluate()) return SearchOutcome::does_not_fit;
  part_sections_.resize(problem_.sections());
  std::iota(part_sections_.begin(), part_sections_.end(), 0U);
  // A frame without options holds the parts of the whole.
  const Part whole{0, part_sections_.size()};
  frames_.push_back({.part = whole, .first_section = whole.last});
  split(whole);
  return search(nodes_ + node_limit, work() + work_limit, is_stopped);
}

SearchOutcome CoverSearch::search(std::int64_t last_node, std::int64_t last_work,
                                  const std::function<bool()>& is_stopped) {
  constexpr std::int64_t kNodesBetweenLooks = 256;
  while (true) {
    Frame& frame = frames_.back();
    bool failed = false;
    if (frame.next_part < parts_.size()) {
      if (nodes_ >= last_node || work() >= last_work) return SearchOutcome::undecided;
      if (is_stopped && nodes_ % kNodesBetweenLooks == 0 && is_stopped()) return SearchOutcome::undecided;
      failed = open(parts_[frame.next_part++]) == Step::failed;
    } else {
      if (frames_.size() == 1) return SearchOutcome::fits;
      // All parts under this option are solved: so is the part that asked for the decision.
      close(frame);
    }
    while (failed) {
      if (frames_.size() == 1) return SearchOutcome::does_not_fit;
      if (take_next_option(frames_.back())) break;
      if (rules_.memory) refuted_.insert(frames_.back().key);
      close(frames_.back());
    }
  }
}

// Forgets its options and parts, and the frame.
void CoverSearch::close(const Frame& frame) {
  parts_.resize(frame.first_part);
  part_sections_.resize(frame.first_section);
  options_.resize(frame.first_option);
  frames_.pop_back();
}

// Chooses what to decide in the part and takes the first option that is not a dead end at once.
CoverSearch::Step CoverSearch::open(Part part) {
  ++nodes_;
  const std::span<const std::uint32_t> sections = sections_of(part);
  work_ += static_cast<std::int64_t>(sections.size()) / 4;
  if (std::none_of(sections.begin(), sections.end(), [&](std::uint32_t at) { return state_.has_remaining(at); })) {
    return Step::solved;
  }
  Frame frame{.part = part,
              .mark = state_.mark(),
              .first_option = options_.size(),
              .first_part = parts_.size(),
              .first_section = part_sections_.size()};
  if (rules_.memory) {
    frame.key = state_.key_of(sections);
    if (refuted_.contains(frame.key)) return Step::failed;
  }
  frame.section = choose(sections);
  collect_options(frame);
  frames_.push_back(frame);
  if (take_next_option(frames_.back())) return Step::opened;
  if (rules_.memory) refuted_.insert(frame.key);
  close(frames_.back());
  return Step::failed;
}

bool CoverSearch::is_better(std::uint32_t a, std::uint32_t b) const {
  const auto options = [&](std::uint32_t section) {
    return 2 * static_cast<std::int64_t>(state_.candidates(section)) + (state_.slack(section) > 0 ? 1 : 0);
  };
  switch (rule_) {
    case SectionRule::fewest_options:
      return std::tuple(options(a), state_.floor(a)) < std::tuple(options(b), state_.floor(b));
    case SectionRule::most_failures:
      return std::tuple(options(a) * failures_[b], state_.floor(a)) <
             std::tuple(options(b) * failures_[a], state_.floor(b));
    case SectionRule::least_slack:
      return std::tuple(state_.slack(a), options(a), state_.floor(a)) <
             std::tuple(state_.slack(b), options(b), state_.floor(b));
  }
  LOWTIDE_CHECK(false, "every rule is listed");
  return false;
}

std::uint32_t CoverSearch::choose(std::span<const std::uint32_t> part) {
  std::optional<std::uint32_t> best;
  for (std::uint32_t section : part) {
    if (!state_.has_remaining(section) || (best && !is_better(section, *best))) continue;
    if (state_.is_decidable(section)) best = section;
  }
  LOWTIDE_CHECK(best.has_value(), "a section with the least floor of a part can be decided");
  return *best;
}

// The candidates of its section, twins but the first left out, and the lift.
void CoverSearch::collect_options(Frame& frame) {
  const std::int64_t floor = state_.floor(frame.section);
  const auto first = [&] { return options_.begin() + static_cast<std::ptrdiff_t>(frame.first_option); };
  for (std::uint32_t buffer : problem_.members(frame.section)) {
    if (!state_.is_remaining(buffer) || state_.low(buffer) != floor) continue;
    const bool has_twin = rules_.twins && std::any_of(first(), options_.end(), [&](std::uint32_t other) {
                            return problem_.buffers[other].twins == problem_.buffers[buffer].twins;
                          });
    if (!has_twin) options_.push_back(buffer);
  }
  std::sort(first(), options_.end(), [&](std::uint32_t a, std::uint32_t b) { return ranks_[a] < ranks_[b]; });
  if (state_.slack(frame.section) > 0 || !rules_.slack) options_.push_back(kLift);
  frame.options = options_.size() - frame.first_option;
}

bool CoverSearch::take_next_option(Frame& frame) {
  const auto reset = [&] {
    state_.undo(frame.mark);
    parts_.resize(frame.first_part);
    part_sections_.resize(frame.first_section);
  };
  while (frame.next_option < frame.options) {
    reset();
    const std::uint32_t option = options_[frame.first_option + frame.next_option++];
    if (!apply(frame, option)) continue;
    frame.next_part = frame.first_part;
    if (option == kLift) {
      parts_.push_back(frame.part);  // nobody has left it
    } else {
      split(frame.part);
    }
    return true;
  }
  reset();
  return false;
}

// False if the move is a dead end.
bool CoverSearch::apply(const Frame& frame, std::uint32_t option) {
  if (option == kLift) {
    const std::optional<std::int64_t> to = state_.next_floor(frame.section);
    if (!to || *to >= state_.capacity()) return false;
    state_.lift(frame.section, *to);
  } else {
    state_.place(option);
  }
  const std::optional<std::uint32_t> dead = state_.evaluate();
  if (dead) ++failures_[*dead];
  return !dead;
}

// Appends the parts that remaining buffers hold together, the one with the fewest sections first: it fails soonest, if
// it does.
void CoverSearch::split(Part part) {
  const std::size_t first_part = parts_.size();
  if (!rules_.components) {
    parts_.push_back(part);
    return;
  }
  ++seen_;
  for (std::size_t at = part.first; at < part.last; ++at) {
    const std::uint32_t section = part_sections_[at];
    if (seen_section_[section] != seen_ && state_.has_remaining(section)) collect_part(section);
  }
  std::sort(parts_.begin() + static_cast<std::ptrdiff_t>(first_part), parts_.end(), [&](Part a, Part b) {
    return std::tuple(a.last - a.first, a.first) < std::tuple(b.last - b.first, b.first);
  });
}

void CoverSearch::collect_part(std::uint32_t from) {
  const std::size_t first = part_sections_.size();
  seen_section_[from] = seen_;
  part_sections_.push_back(from);
  for (std::size_t at = first; at < part_sections_.size(); ++at) {
    const std::span<const std::uint32_t> members = problem_.members(part_sections_[at]);
    work_ += static_cast<std::int64_t>(members.size()) / 4;
    for (std::uint32_t buffer : members) {
      if (!state_.is_remaining(buffer) || seen_buffer_[buffer] == seen_) continue;
      seen_buffer_[buffer] = seen_;
      const std::span<const std::uint32_t> others = problem_.sections_of(buffer);
      work_ += static_cast<std::int64_t>(others.size()) / 4;
      for (std::uint32_t other : others) {
        if (seen_section_[other] == seen_) continue;
        seen_section_[other] = seen_;
        part_sections_.push_back(other);
      }
    }
  }
  parts_.push_back({first, part_sections_.size()});
}

SearchTask search_task(const CompressedProblem& problem, const CoverProblem& cover) {
  SearchTask task;
  std::vector<std::int64_t> load(cover.sections(), 0);
  for (std::uint32_t section = 0; section < cover.sections(); ++section) {
    for (std::uint32_t buffer : cover.members(section)) load[section] += cover.buffers[buffer].size;
  }
  std::int64_t grain = 0;
  for (std::uint32_t at = 0; at < cover.buffers.size(); ++at) {
    const CoverProblem::Buffer& buffer = cover.buffers[at];
    const std::span<const std::uint32_t> sections = cover.sections_of(at);
    std::int64_t crowd = 0;
    for (std::uint32_t section : sections) crowd = std::max(crowd, load[section]);
    task.buffers.push_back({buffer.id, buffer.size, static_cast<std::int64_t>(sections.size()), crowd});
    grain = std::gcd(grain, buffer.size);
    if (buffer.alignment > 1) grain = std::gcd(grain, buffer.alignment);
  }
  for (PackingId id : problem.fixed) {
    grain = std::gcd(grain, problem.buffers[id].fixed_offset + problem.buffers[id].size);
  }
  task.grain = std::max<std::int64_t>(grain, 1);
  task.make = [&cover] { return std::make_unique<CoverSearch>(cover, CoverRules{}); };
  return task;
}

}  // namespace lowtide
