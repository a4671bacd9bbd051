// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/cover_state.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/random.h"

namespace lowtide {
namespace {

constexpr std::int64_t kNoOffset = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kCoverSeed = 0xC07E5;

std::int64_t next_multiple(std::int64_t value, std::int64_t alignment) { return (value + alignment - 1) & -alignment; }

StateKey key_of_floor(std::uint32_t section, std::int64_t floor) {
  const std::uint64_t place = Random(section + kCoverSeed).next();
  const auto value = static_cast<std::uint64_t>(floor);
  return {Random(place + value).next(), Random((place ^ 0x14057B7EF767814FULL) + 3 * value).next()};
}

void add_key(StateKey& sum, const StateKey& key) { sum = {sum.low + key.low, sum.high + key.high}; }
void subtract_key(StateKey& sum, const StateKey& key) { sum = {sum.low - key.low, sum.high - key.high}; }

// Joins what touches or overlaps.
void merge(std::vector<AddressRange>& ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<AddressRange> merged;
  for (const AddressRange& range : ranges) {
    if (merged.empty() || merged.back().end < range.begin) {
      merged.push_back(range);
    } else {
      merged.back().end = std::max(merged.back().end, range.end);
    }
  }
  ranges = std::move(merged);
}

void number_twins(CoverProblem& problem) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::vector<std::uint32_t>>, std::uint32_t> numbers;
  for (std::uint32_t at = 0; at < problem.buffers.size(); ++at) {
    CoverProblem::Buffer& buffer = problem.buffers[at];
    const std::span<const std::uint32_t> sections = problem.sections_of(at);
    const auto number = static_cast<std::uint32_t>(numbers.size());
    buffer.twins =
        numbers
            .emplace(std::tuple(buffer.size, buffer.alignment, std::vector(sections.begin(), sections.end())), number)
            .first->second;
  }
}

}  // namespace

CoverProblem cover_problem(const CompressedProblem& problem, const CliqueCover& cover) {
  constexpr std::uint32_t kFixed = std::numeric_limits<std::uint32_t>::max();
  CoverProblem out;
  IdVector<PackingId, std::uint32_t> number(problem.buffers.size(), kFixed);
  out.unit = problem.movable.empty() ? 1 : kNoOffset;
  for (PackingId id : problem.movable) out.unit = std::min(out.unit, problem.buffers[id].alignment);
  for (PackingId id : problem.movable) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    number[id] = static_cast<std::uint32_t>(out.buffers.size());
    out.buffers.push_back({buffer.size, next_multiple(buffer.size, out.unit), buffer.alignment, 0, id});
  }
  out.blocked_in.resize(cover.sections());
  out.blocked_for.resize(out.buffers.size());
  std::vector<std::vector<std::uint32_t>> sections_of(out.buffers.size());
  out.first_member.push_back(0);
  for (std::uint32_t section = 0; section < cover.sections(); ++section) {
    for (PackingId id : cover.members(section)) {
      const CompressedProblem::Buffer& buffer = problem.buffers[id];
      if (number[id] != kFixed) {
        out.member_list.push_back(number[id]);
        sections_of[number[id]].push_back(section);
      } else {
        out.blocked_in[section].push_back({buffer.fixed_offset, buffer.fixed_offset + buffer.size});
      }
    }
    out.first_member.push_back(out.member_list.size());
    merge(out.blocked_in[section]);
  }
  out.first_section.push_back(0);
  for (std::uint32_t at = 0; at < out.buffers.size(); ++at) {
    out.section_list.insert(out.section_list.end(), sections_of[at].begin(), sections_of[at].end());
    out.first_section.push_back(out.section_list.size());
    for (std::uint32_t section : sections_of[at]) {
      const std::vector<AddressRange>& blocked = out.blocked_in[section];
      out.blocked_for[at].insert(out.blocked_for[at].end(), blocked.begin(), blocked.end());
    }
    merge(out.blocked_for[at]);
  }
  number_twins(out);
  return out;
}

CoverState::CoverState(const CoverProblem& problem, const CoverRules& rules)
    : problem_(problem),
      rules_(rules),
      sections_(problem.sections()),
      top_(problem.buffers.size(), 0),
      low_(problem.buffers.size(), 0),
      offset_(problem.buffers.size(), 0),
      is_remaining_(problem.buffers.size(), 1),
      buffer_key_(problem.buffers.size()),
      is_touched_(problem.sections(), 0),
      stamp_of_section_(problem.sections(), 0),
      stamp_of_buffer_(problem.buffers.size(), 0) {
  Random random(kCoverSeed);
  for (StateKey& key : buffer_key_) key = {random.next(), random.next()};
  for (std::uint32_t buffer = 0; buffer < problem.buffers.size(); ++buffer) {
    low_[buffer] = fit(buffer, 0);
    for (std::uint32_t section : problem.sections_of(buffer)) {
      sections_[section].remaining += problem.buffers[buffer].span;
    }
    LOWTIDE_CHECK(!problem.sections_of(buffer).empty(), "every buffer to be placed is in a section");
    add_key(sections_[problem.sections_of(buffer).front()].set_key, buffer_key_[buffer]);
  }
}

void CoverState::set_capacity(std::int64_t capacity) {
  capacity_ = capacity;
  for (std::uint32_t section = 0; section < sections_.size(); ++section) touch(section);
}

// The lowest offset from `from` on that is aligned and free of blocked bytes.
std::int64_t CoverState::fit(std::uint32_t buffer, std::int64_t from) const {
  const CoverProblem::Buffer& self = problem_.buffers[buffer];
  const std::vector<AddressRange>& blocked = problem_.blocked_for[buffer];
  std::int64_t offset = next_multiple(from, self.alignment);
  auto next = std::partition_point(blocked.begin(), blocked.end(),
                                   [&](const AddressRange& range) { return range.end <= offset; });
  for (; next != blocked.end() && next->begin < offset + self.size; ++next) {
    offset = std::max(offset, next_multiple(next->end, self.alignment));
  }
  return offset;
}

// Whole units between `from` and the capacity that are not blocked; the last of a free stretch may be cut, since what
// lies on top needs no padding.
std::int64_t CoverState::room_above(std::uint32_t section, std::int64_t from) const {
  const std::int64_t unit = problem_.unit;
  std::int64_t room = 0;
  std::int64_t begin = next_multiple(from, unit);
  for (const AddressRange& range : problem_.blocked_in[section]) {
    if (range.end <= begin) continue;
    room += std::max<std::int64_t>(next_multiple(range.begin, unit) - begin, 0);
    begin = next_multiple(range.end, unit);
  }
  return room + next_multiple(capacity_, unit) - begin;
}

void CoverState::save(std::uint32_t section) { section_trail_.push_back({section, sections_[section]}); }

void CoverState::touch(std::uint32_t section) {
  if (is_touched_[section] != 0) return;
  is_touched_[section] = 1;
  touched_.push_back(section);
}

void CoverState::raise(std::uint32_t section, std::int64_t height) {
  for (std::uint32_t buffer : problem_.members(section)) {
    if (is_remaining_[buffer] == 0 || top_[buffer] >= height) continue;
    buffer_trail_.push_back({buffer, top_[buffer], low_[buffer]});
    top_[buffer] = height;
    if (low_[buffer] >= height) continue;
    low_[buffer] = fit(buffer, height);
    for (std::uint32_t other : problem_.sections_of(buffer)) touch(other);
    work_ += static_cast<std::int64_t>(problem_.sections_of(buffer).size()) / 2;
  }
  work_ += static_cast<std::int64_t>(problem_.members(section).size());
}

void CoverState::place(std::uint32_t buffer) {
  const CoverProblem::Buffer& self = problem_.buffers[buffer];
  const std::span<const std::uint32_t> sections = problem_.sections_of(buffer);
  offset_[buffer] = low_[buffer];
  is_remaining_[buffer] = 0;
  placed_.push_back(buffer);
  for (std::uint32_t section : sections) {
    save(section);
    sections_[section].remaining -= self.span;
    touch(section);
  }
  subtract_key(sections_[sections.front()].set_key, buffer_key_[buffer]);
  for (std::uint32_t section : sections) raise(section, offset_[buffer] + self.size);
}

void CoverState::lift(std::uint32_t section, std::int64_t to) {
  save(section);
  touch(section);
  raise(section, to);
}

void CoverState::undo(const Mark& mark) {
  for (std::uint32_t section : touched_) is_touched_[section] = 0;
  touched_.clear();
  for (; section_trail_.size() > mark.sections; section_trail_.pop_back()) {
    sections_[section_trail_.back().section] = section_trail_.back().state;
  }
  for (; buffer_trail_.size() > mark.buffers; buffer_trail_.pop_back()) {
    top_[buffer_trail_.back().buffer] = buffer_trail_.back().top;
    low_[buffer_trail_.back().buffer] = buffer_trail_.back().low;
  }
  for (; placed_.size() > mark.placed; placed_.pop_back()) is_remaining_[placed_.back()] = 1;
}

std::optional<std::uint32_t> CoverState::evaluate() {
  std::optional<std::uint32_t> dead;
  for (std::size_t at = 0; at < touched_.size() && !dead; ++at) {
    if (!evaluate(touched_[at])) dead = touched_[at];
  }
  for (std::uint32_t section : touched_) is_touched_[section] = 0;
  touched_.clear();
  return dead;
}

// False if it cannot be completed.
bool CoverState::evaluate(std::uint32_t section) {
  std::int64_t floor = kNoOffset;
  std::int64_t ledge = kNoOffset;  // the lowest that is not the floor
  std::int64_t below_ledge = 0;    // spans of the candidates
  std::uint32_t candidates = 0;
  bool fits = true;
  for (std::uint32_t buffer : problem_.members(section)) {
    if (is_remaining_[buffer] == 0) continue;
    const std::int64_t low = low_[buffer];
    if (low + problem_.buffers[buffer].size > capacity_) fits = false;
    if (low < floor) {
      ledge = floor;
      floor = low;
      below_ledge = 0;
      candidates = 0;
    }
    if (low == floor) {
      ++candidates;
      below_ledge += problem_.buffers[buffer].span;
    } else {
      ledge = std::min(ledge, low);
    }
  }
  work_ += static_cast<std::int64_t>(problem_.members(section).size());
  if (!fits) return false;
  save(section);
  SectionState& self = sections_[section];
  self.candidates = candidates;
  if (candidates == 0) return true;
  self.floor = floor;
  self.floor_key = key_of_floor(section, floor);
  self.slack = room_above(section, floor) - self.remaining;
  if (rules_.slack && self.slack < 0) return false;
  return !rules_.ledges || ledge == kNoOffset || room_above(section, ledge) >= self.remaining - below_ledge;
}

bool CoverState::is_decidable(std::uint32_t section) {
  const std::int64_t floor = sections_[section].floor;
  for (std::uint32_t buffer : problem_.members(section)) {
    if (is_remaining_[buffer] == 0 || low_[buffer] != floor) continue;
    const std::span<const std::uint32_t> sections = problem_.sections_of(buffer);
    work_ += static_cast<std::int64_t>(sections.size()) / 4;
    const bool is_lowest = std::all_of(sections.begin(), sections.end(),
                                       [&](std::uint32_t other) { return sections_[other].floor == floor; });
    if (!is_lowest) return false;
  }
  return true;
}

// A packing in which no buffer can be moved down alone: one that is not at its low rests on a blocked range, or on
// another one that remains, shares a section with it, and hence lies at or above its low. The lowest buffer of
// `section` rests on nobody of the section.
std::optional<std::int64_t> CoverState::next_floor(std::uint32_t section) {
  const std::int64_t floor = sections_[section].floor;
  const std::uint32_t in_section = ++stamp_;
  for (std::uint32_t buffer : problem_.members(section)) stamp_of_buffer_[buffer] = in_section;
  std::int64_t next = kNoOffset;
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t buffer : problem_.members(section)) {
    if (is_remaining_[buffer] == 0) continue;
    if (low_[buffer] > floor) {
      next = std::min(next, low_[buffer]);
      continue;
    }
    candidates.push_back(buffer);
    const std::vector<AddressRange>& blocked = problem_.blocked_for[buffer];
    const auto above = std::partition_point(blocked.begin(), blocked.end(),
                                            [&](const AddressRange& range) { return range.end <= floor; });
    if (above != blocked.end()) next = std::min(next, fit(buffer, above->end));
  }
  // By the lowest end of somebody else in its sections. A section that several candidates share is looked at for each
  // of them if their alignments differ, and once if not.
  std::sort(candidates.begin(), candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(problem_.buffers[a].alignment, a) < std::pair(problem_.buffers[b].alignment, b);
  });
  std::int64_t alignment = 0;
  std::uint32_t seen = 0;
  for (std::uint32_t candidate : candidates) {
    if (problem_.buffers[candidate].alignment != alignment) {
      alignment = problem_.buffers[candidate].alignment;
      seen = ++stamp_;
    }
    for (std::uint32_t other : problem_.sections_of(candidate)) {
      if (stamp_of_section_[other] == seen) continue;
      stamp_of_section_[other] = seen;
      work_ += static_cast<std::int64_t>(problem_.members(other).size()) / 2;
      for (std::uint32_t below : problem_.members(other)) {
        if (is_remaining_[below] == 0 || stamp_of_buffer_[below] == in_section) continue;
        next = std::min(next, next_multiple(low_[below] + problem_.buffers[below].size, alignment));
      }
    }
  }
  return next == kNoOffset ? std::nullopt : std::optional(next);
}

StateKey CoverState::key_of(std::span<const std::uint32_t> part) const {
  StateKey key;
  for (std::uint32_t section : part) {
    if (sections_[section].remaining == 0) continue;
    add_key(key, sections_[section].floor_key);
    add_key(key, sections_[section].set_key);
  }
  key = {Random(key.low).next(), Random(key.high + kCoverSeed).next()};
  return {key.low, key.high | 1U};  // never the key of a free slot
}

}  // namespace lowtide
