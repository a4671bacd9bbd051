// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/valley_state.h"

#include <algorithm>

#include "lowtide/base/check.h"
#include "lowtide/base/random.h"

namespace lowtide {
namespace {

constexpr std::int64_t kNoHeight = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kValleySeed = 0x10371DE;

std::int64_t aligned_up(std::int64_t value, std::int64_t alignment) { return (value + alignment - 1) & -alignment; }

// Two words of the same input that have nothing to do with each other.
StateKey scattered(std::uint64_t low, std::uint64_t high) {
  return {Random(low ^ kValleySeed).next(), Random(high + 0x5851F42D4C957F2DULL * kValleySeed).next()};
}

StateKey key_of_height(Section section, std::int64_t height) {
  const std::uint64_t place = Random(section).next();
  const auto value = static_cast<std::uint64_t>(height);
  return scattered(place + value, (place ^ 0x14057B7EF767814FULL) + 3 * value);
}

}  // namespace

ValleyState::ValleyState(const SectionedProblem& problem, const ValleyRules& rules)
    : problem_(problem),
      rules_(rules),
      height_(problem.sections, 0),
      remaining_(problem.sections, 0),
      crossing_(problem.sections + 1, 0),
      candidates_(problem.sections, kNotInValley),
      first_(problem.sections, kNone),
      next_(problem.buffers.size(), kNone),
      previous_(problem.buffers.size(), kNone),
      offset_(problem.buffers.size(), 0),
      height_key_(problem.sections),
      set_key_(problem.sections),
      buffer_key_(problem.buffers.size()),
      count_change_(problem.sections + 1, 0),
      bytes_change_(problem.sections + 1, 0),
      rest_(problem.sections, 0),
      touched_{0, problem.sections} {
  Random random(kValleySeed);
  for (StateKey& key : buffer_key_) key = {random.next(), random.next()};
  for (Section section = 0; section < problem.sections; ++section) set_height(section, 0);
  // The last first: a list then begins with the lowest number.
  for (std::size_t at = problem.buffers.size(); at-- > 0;) {
    const SectionedProblem::Buffer& buffer = problem.buffers[at];
    link(static_cast<std::uint32_t>(at));
    for (Section section = buffer.begin; section < buffer.end; ++section) remaining_[section] += buffer.size;
    for (Section section = buffer.begin + 1; section < buffer.end; ++section) ++crossing_[section];
  }
}

void ValleyState::link(std::uint32_t buffer) {
  const Section begin = problem_.buffers[buffer].begin;
  StateKey& key = set_key_[begin];
  key = {key.low + buffer_key_[buffer].low, key.high + buffer_key_[buffer].high};
  // `previous_` and `next_` are as they were when it was unlinked: moves are undone in reverse order.
  if (previous_[buffer] == kNone) {
    if (next_[buffer] == kNone) next_[buffer] = first_[begin];
    first_[begin] = buffer;
  } else {
    next_[previous_[buffer]] = buffer;
  }
  if (next_[buffer] != kNone) previous_[next_[buffer]] = buffer;
}

void ValleyState::unlink(std::uint32_t buffer) {
  const Section begin = problem_.buffers[buffer].begin;
  StateKey& key = set_key_[begin];
  key = {key.low - buffer_key_[buffer].low, key.high - buffer_key_[buffer].high};
  if (previous_[buffer] == kNone) {
    first_[begin] = next_[buffer];
  } else {
    next_[previous_[buffer]] = next_[buffer];
  }
  if (next_[buffer] != kNone) previous_[next_[buffer]] = previous_[buffer];
}

void ValleyState::set_height(Section section, std::int64_t height) {
  height_[section] = height;
  height_key_[section] = key_of_height(section, height);
}

void ValleyState::touch(Section begin, Section end) {
  if (touched_.begin >= touched_.end) {
    touched_ = {begin, end};
  } else {
    touched_ = {std::min(touched_.begin, begin), std::max(touched_.end, end)};
  }
}

void ValleyState::place(std::uint32_t buffer, std::int64_t at) {
  const SectionedProblem::Buffer& placed = problem_.buffers[buffer];
  unlink(buffer);
  offset_[buffer] = at;
  for (Section section = placed.begin; section < placed.end; ++section) {
    set_height(section, at + placed.size);
    remaining_[section] -= placed.size;
  }
  for (Section section = placed.begin + 1; section < placed.end; ++section) --crossing_[section];
  touch(placed.begin, placed.end);
  trail_.push_back({.buffer = buffer});
}

void ValleyState::lift(Section section, std::int64_t to) {
  trail_.push_back({.buffer = kNone, .section = section, .before = height_[section]});
  set_height(section, to);
  touch(section, section + 1);
}

void ValleyState::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    const Move move = trail_.back();
    trail_.pop_back();
    if (move.buffer == kNone) {
      set_height(move.section, move.before);
      touch(move.section, move.section + 1);
      continue;
    }
    const SectionedProblem::Buffer& placed = problem_.buffers[move.buffer];
    link(move.buffer);
    for (Section section = placed.begin; section < placed.end; ++section) {
      set_height(section, offset_[move.buffer]);
      remaining_[section] += placed.size;
    }
    for (Section section = placed.begin + 1; section < placed.end; ++section) ++crossing_[section];
    touch(placed.begin, placed.end);
  }
}

Section ValleyState::end_of_run(Section begin, Section end) const {
  Section at = begin + 1;
  while (at < end && crossing_[at] != 0 && height_[at] == height_[begin]) ++at;
  return at;
}

SectionRange ValleyState::run_of(Section section) const {
  SectionRange run{section, end_of_run(section, problem_.sections)};
  while (run.begin > 0 && crossing_[run.begin] != 0 && height_[run.begin - 1] == height_[section]) --run.begin;
  return run;
}

std::optional<std::int64_t> ValleyState::wall_of(SectionRange run) const {
  std::optional<std::int64_t> wall;
  if (crossing_[run.begin] != 0) wall = height_[run.begin - 1];
  if (crossing_[run.end] != 0) wall = std::min(wall.value_or(kNoHeight), height_[run.end]);
  return wall;
}

std::optional<Section> ValleyState::evaluate() {
  if (touched_.begin >= touched_.end) return std::nullopt;
  // What changed shows in the runs that it lies in and in those beside them, whose walls may have changed.
  SectionRange range{run_of(touched_.begin).begin, run_of(touched_.end - 1).end};
  if (crossing_[range.begin] != 0) range.begin = run_of(range.begin - 1).begin;
  if (crossing_[range.end] != 0) range.end = run_of(range.end).end;
  for (Section begin = range.begin; begin < range.end;) {
    const SectionRange run{begin, end_of_run(begin, range.end)};
    if (const std::optional<Section> dead = evaluate_run(run)) return dead;
    begin = run.end;
  }
  touched_ = {};
  return std::nullopt;
}

std::optional<Section> ValleyState::evaluate_run(SectionRange run) {
  const std::int64_t floor = height_[run.begin];
  const bool is_valley = (crossing_[run.begin] == 0 || height_[run.begin - 1] > floor) &&
                         (crossing_[run.end] == 0 || height_[run.end] > floor);
  work_ += run.end - run.begin;
  if (!is_valley) {
    std::fill(candidates_.begin() + run.begin, candidates_.begin() + run.end, kNotInValley);
    return std::nullopt;
  }
  const std::int64_t wall = wall_of(run).value_or(kNoHeight);
  std::uint32_t count = 0;
  std::int64_t within = 0;  // bytes of remaining buffers that live within the run
  std::optional<Section> dead;
  for (Section section = run.begin; section < run.end; ++section) {
    for (std::uint32_t buffer = first_[section]; buffer != kNone; buffer = next_[buffer]) {
      const SectionedProblem::Buffer& self = problem_.buffers[buffer];
      ++work_;
      if (self.end > run.end) continue;
      const bool fits = (floor & (self.alignment - 1)) == 0;
      count += fits ? 1U : 0U;
      within += self.size;
      count_change_[self.end] -= fits ? 1 : 0;
      bytes_change_[self.end] -= self.size;
    }
    count += static_cast<std::uint32_t>(count_change_[section]);
    within += bytes_change_[section];
    count_change_[section] = 0;
    bytes_change_[section] = 0;
    candidates_[section] = remaining_[section] == 0 ? kNotInValley : count;
    if (remaining_[section] == 0 || dead) continue;
    const std::int64_t slack = this->slack(section);
    // What crosses a wall lies above it; what lives within may not reach up to there.
    const bool shallow =
        rules_.walls && within < remaining_[section] && wall != kNoHeight && wall - floor - within > slack;
    const bool is_full = rules_.slack && (slack < 0 || (slack == 0 && count == 0));
    if (is_full || shallow) dead = section;
  }
  count_change_[run.end] = 0;
  bytes_change_[run.end] = 0;
  return dead;
}

void ValleyState::append_candidates(Section section, SectionRange run, std::vector<std::uint32_t>& out) const {
  const std::size_t before = out.size();
  const std::int64_t floor = height_[section];
  const auto alike = [&](std::uint32_t a, std::uint32_t b) {
    const SectionedProblem::Buffer& first = problem_.buffers[a];
    const SectionedProblem::Buffer& second = problem_.buffers[b];
    return first.begin == second.begin && first.end == second.end && first.size == second.size &&
           first.alignment == second.alignment && first.padding == second.padding;
  };
  for (Section begin = run.begin; begin <= section; ++begin) {
    const std::size_t first_here = out.size();
    for (std::uint32_t buffer = first_[begin]; buffer != kNone; buffer = next_[buffer]) {
      const SectionedProblem::Buffer& self = problem_.buffers[buffer];
      if (self.end <= section || self.end > run.end || (floor & (self.alignment - 1)) != 0) continue;
      const bool has_twin =
          rules_.twins && std::any_of(out.begin() + static_cast<std::ptrdiff_t>(first_here), out.end(),
                                      [&](std::uint32_t other) { return alike(other, buffer); });
      if (!has_twin) out.push_back(buffer);
    }
  }
  LOWTIDE_CHECK(out.size() - before <= candidates_[section], "a section has as many candidates as were counted");
}

// rest_[s]: the highest section between s and `section`, both included. A buffer that lives in `section` rests no lower
// than the larger of the values at its two ends.
void ValleyState::find_rests(Section section, SectionRange part) {
  std::int64_t highest = height_[section];
  for (Section at = section + 1; at-- > part.begin;) rest_[at] = highest = std::max(highest, height_[at]);
  highest = height_[section];
  for (Section at = section; at < part.end; ++at) rest_[at] = highest = std::max(highest, height_[at]);
  work_ += part.end - part.begin;
}

std::optional<std::int64_t> ValleyState::next_height(Section section, SectionRange part) {
  const std::int64_t floor = height_[section];
  std::int64_t lowest = kNoHeight;
  SectionRange hull{section, section};  // of the candidates
  std::int64_t least_alignment = kNoHeight;
  find_rests(section, part);
  for (Section begin = part.begin; begin <= section; ++begin) {
    for (std::uint32_t buffer = first_[begin]; buffer != kNone; buffer = next_[buffer]) {
      const SectionedProblem::Buffer& self = problem_.buffers[buffer];
      ++work_;
      if (self.end <= section) continue;
      const std::int64_t offset = aligned_up(std::max(rest_[begin], rest_[self.end - 1]), self.alignment);
      if (offset > floor) {
        lowest = std::min(lowest, offset);
      } else {
        hull = {std::min(hull.begin, begin), std::max(hull.end, self.end)};
        least_alignment = std::min(least_alignment, self.alignment);
      }
    }
  }
  // A candidate can go higher only if somebody who does not live in the section comes under it.
  for (Section begin = part.begin; begin < hull.end; ++begin) {
    for (std::uint32_t buffer = first_[begin]; buffer != kNone; buffer = next_[buffer]) {
      const SectionedProblem::Buffer& self = problem_.buffers[buffer];
      ++work_;
      if (self.end <= hull.begin || (begin <= section && self.end > section)) continue;
      const std::int64_t rest = std::max({height_[begin], height_[self.end - 1], floor});
      lowest = std::min(lowest, aligned_up(rest + self.size, least_alignment));
    }
  }
  return lowest == kNoHeight ? std::nullopt : std::optional(lowest);
}

StateKey ValleyState::key_of(SectionRange part) const {
  StateKey key{part.begin, part.end};
  for (Section section = part.begin; section < part.end; ++section) {
    key.low += height_key_[section].low + set_key_[section].low;
    key.high += height_key_[section].high + set_key_[section].high;
  }
  key = scattered(key.low, key.high);
  return {key.low, key.high | 1U};  // never the key of a free slot
}

}  // namespace lowtide
