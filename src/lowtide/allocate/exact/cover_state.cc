// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/cover_state.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "lowtide/base/random.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::int64_t kNoOffset = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kCoverSeed = 0xC07E5;

std::int64_t cover_rounded(std::int64_t value, std::int64_t alignment) { return (value + alignment - 1) & -alignment; }

StateKey key_of_floor(std::uint32_t clique, std::int64_t floor) {
  const std::uint64_t place = Random(clique + kCoverSeed).next();
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

void number_kinds(CoverProblem& problem) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::vector<std::uint32_t>>, std::uint32_t> numbers;
  for (std::uint32_t at = 0; at < problem.buffers.size(); ++at) {
    CoverProblem::Buffer& buffer = problem.buffers[at];
    const std::span<const std::uint32_t> cliques = problem.cliques_of(at);
    const auto number = static_cast<std::uint32_t>(numbers.size());
    buffer.kind =
        numbers.emplace(std::tuple(buffer.size, buffer.alignment, std::vector(cliques.begin(), cliques.end())), number)
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
    out.buffers.push_back({buffer.size, cover_rounded(buffer.size, out.unit), buffer.alignment, 0, id});
  }
  out.blocked_in.resize(cover.cliques());
  out.blocked_for.resize(out.buffers.size());
  std::vector<std::vector<std::uint32_t>> cliques_of(out.buffers.size());
  out.first_member.push_back(0);
  for (std::uint32_t clique = 0; clique < cover.cliques(); ++clique) {
    for (PackingId id : cover.members(clique)) {
      const CompressedProblem::Buffer& buffer = problem.buffers[id];
      if (number[id] != kFixed) {
        out.member_list.push_back(number[id]);
        cliques_of[number[id]].push_back(clique);
      } else {
        out.blocked_in[clique].push_back({buffer.fixed_offset, buffer.fixed_offset + buffer.size});
      }
    }
    out.first_member.push_back(out.member_list.size());
    merge(out.blocked_in[clique]);
  }
  out.first_clique.push_back(0);
  for (std::uint32_t at = 0; at < out.buffers.size(); ++at) {
    out.clique_list.insert(out.clique_list.end(), cliques_of[at].begin(), cliques_of[at].end());
    out.first_clique.push_back(out.clique_list.size());
    for (std::uint32_t clique : cliques_of[at]) {
      const std::vector<AddressRange>& blocked = out.blocked_in[clique];
      out.blocked_for[at].insert(out.blocked_for[at].end(), blocked.begin(), blocked.end());
    }
    merge(out.blocked_for[at]);
  }
  number_kinds(out);
  return out;
}

CoverState::CoverState(const CoverProblem& problem, const SkylineRules& rules)
    : problem_(problem),
      rules_(rules),
      cliques_(problem.cliques()),
      top_(problem.buffers.size(), 0),
      low_(problem.buffers.size(), 0),
      offset_(problem.buffers.size(), 0),
      is_remaining_(problem.buffers.size(), true),
      buffer_key_(problem.buffers.size()),
      is_touched_(problem.cliques()),
      stamp_of_clique_(problem.cliques(), 0),
      stamp_of_buffer_(problem.buffers.size(), 0) {
  Random random(kCoverSeed);
  for (StateKey& key : buffer_key_) key = {random.next(), random.next()};
  for (std::uint32_t buffer = 0; buffer < problem.buffers.size(); ++buffer) {
    low_[buffer] = fit(buffer, 0);
    for (std::uint32_t clique : problem.cliques_of(buffer)) {
      cliques_[clique].remaining += problem.buffers[buffer].span;
    }
    LOWTIDE_CHECK(!problem.cliques_of(buffer).empty(), "every buffer to be placed is in a clique");
    add_key(cliques_[problem.cliques_of(buffer).front()].set_key, buffer_key_[buffer]);
  }
}

void CoverState::set_capacity(std::int64_t capacity) {
  undo({});
  capacity_ = capacity;
  for (std::uint32_t clique = 0; clique < cliques_.size(); ++clique) touch(clique);
}

// The lowest offset from `from` on that is aligned and free of blocked bytes.
std::int64_t CoverState::fit(std::uint32_t buffer, std::int64_t from) const {
  const CoverProblem::Buffer& self = problem_.buffers[buffer];
  const std::vector<AddressRange>& blocked = problem_.blocked_for[buffer];
  std::int64_t offset = cover_rounded(from, self.alignment);
  auto next = std::partition_point(blocked.begin(), blocked.end(),
                                   [&](const AddressRange& range) { return range.end <= offset; });
  for (; next != blocked.end() && next->begin < offset + self.size; ++next) {
    offset = std::max(offset, cover_rounded(next->end, self.alignment));
  }
  return offset;
}

// Whole units between `from` and the capacity that are not blocked; the last of a free stretch may be cut, since what
// lies on top needs no padding.
std::int64_t CoverState::room_above(std::uint32_t clique, std::int64_t from) const {
  const std::int64_t unit = problem_.unit;
  std::int64_t room = 0;
  std::int64_t begin = cover_rounded(from, unit);
  for (const AddressRange& range : problem_.blocked_in[clique]) {
    if (range.end <= begin) continue;
    room += std::max<std::int64_t>(cover_rounded(range.begin, unit) - begin, 0);
    begin = cover_rounded(range.end, unit);
  }
  return room + cover_rounded(capacity_, unit) - begin;
}

void CoverState::save(std::uint32_t clique) { clique_trail_.push_back({clique, cliques_[clique]}); }

void CoverState::touch(std::uint32_t clique) {
  if (is_touched_.insert(clique)) touched_.push_back(clique);
}

void CoverState::raise(std::uint32_t clique, std::int64_t height) {
  for (std::uint32_t buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer) || top_[buffer] >= height) continue;
    buffer_trail_.push_back({buffer, top_[buffer], low_[buffer]});
    top_[buffer] = height;
    if (low_[buffer] >= height) continue;
    low_[buffer] = fit(buffer, height);
    for (std::uint32_t other : problem_.cliques_of(buffer)) touch(other);
    work_ += static_cast<std::int64_t>(problem_.cliques_of(buffer).size()) / 2;
  }
  work_ += static_cast<std::int64_t>(problem_.members(clique).size());
}

CoverState::Part CoverState::whole() {
  part_cliques_.resize(problem_.cliques());
  std::iota(part_cliques_.begin(), part_cliques_.end(), 0U);
  return {0, part_cliques_.size()};
}

bool CoverState::has_remaining(Part part) {
  const std::span<const std::uint32_t> cliques = cliques_of(part);
  work_ += static_cast<std::int64_t>(cliques.size()) / 4;
  return std::any_of(cliques.begin(), cliques.end(), [&](std::uint32_t clique) { return has_remaining(clique); });
}

void CoverState::append_candidates(std::uint32_t clique, std::vector<std::uint32_t>& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (std::uint32_t buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer) || low_[buffer] != cliques_[clique].floor) continue;
    const bool is_listed =
        rules_.interchangeable && std::any_of(out.begin() + first, out.end(), [&](std::uint32_t other) {
          return problem_.buffers[other].kind == problem_.buffers[buffer].kind;
        });
    if (!is_listed) out.push_back(buffer);
  }
}

bool CoverState::place(std::uint32_t /*clique*/, std::uint32_t buffer) {
  const CoverProblem::Buffer& self = problem_.buffers[buffer];
  const std::span<const std::uint32_t> cliques = problem_.cliques_of(buffer);
  offset_[buffer] = low_[buffer];
  is_remaining_.reset(buffer);
  placed_.push_back(buffer);
  for (std::uint32_t clique : cliques) {
    save(clique);
    cliques_[clique].remaining -= self.span;
    touch(clique);
  }
  subtract_key(cliques_[cliques.front()].set_key, buffer_key_[buffer]);
  for (std::uint32_t clique : cliques) raise(clique, offset_[buffer] + self.size);
  return true;
}

bool CoverState::lift(std::uint32_t clique, Part /*part*/) {
  const std::optional<std::int64_t> to = next_floor(clique);
  if (!to || *to >= capacity_) return false;
  save(clique);
  touch(clique);
  raise(clique, *to);
  return true;
}

void CoverState::split(Part part, std::vector<Part>& parts) {
  const auto first_part = static_cast<std::ptrdiff_t>(parts.size());
  ++stamp_;
  for (std::size_t at = part.first; at < part.last; ++at) {
    const std::uint32_t clique = part_cliques_[at];
    if (stamp_of_clique_[clique] != stamp_ && has_remaining(clique)) collect_part(clique, parts);
  }
  std::sort(parts.begin() + first_part, parts.end(), [](Part a, Part b) {
    return std::tuple(a.last - a.first, a.first) < std::tuple(b.last - b.first, b.first);
  });
}

void CoverState::collect_part(std::uint32_t from, std::vector<Part>& parts) {
  const std::size_t first = part_cliques_.size();
  stamp_of_clique_[from] = stamp_;
  part_cliques_.push_back(from);
  for (std::size_t at = first; at < part_cliques_.size(); ++at) {
    const std::span<const std::uint32_t> members = problem_.members(part_cliques_[at]);
    work_ += static_cast<std::int64_t>(members.size()) / 4;
    for (std::uint32_t buffer : members) {
      if (!is_remaining_.test(buffer) || stamp_of_buffer_[buffer] == stamp_) continue;
      stamp_of_buffer_[buffer] = stamp_;
      const std::span<const std::uint32_t> others = problem_.cliques_of(buffer);
      work_ += static_cast<std::int64_t>(others.size()) / 4;
      for (std::uint32_t other : others) {
        if (stamp_of_clique_[other] == stamp_) continue;
        stamp_of_clique_[other] = stamp_;
        part_cliques_.push_back(other);
      }
    }
  }
  parts.push_back({first, part_cliques_.size()});
}

void CoverState::undo(const Mark& mark) {
  for (std::uint32_t clique : touched_) is_touched_.reset(clique);
  touched_.clear();
  for (; clique_trail_.size() > mark.cliques; clique_trail_.pop_back()) {
    cliques_[clique_trail_.back().clique] = clique_trail_.back().state;
  }
  for (; buffer_trail_.size() > mark.buffers; buffer_trail_.pop_back()) {
    top_[buffer_trail_.back().buffer] = buffer_trail_.back().top;
    low_[buffer_trail_.back().buffer] = buffer_trail_.back().low;
  }
  for (; placed_.size() > mark.placed; placed_.pop_back()) is_remaining_.set(placed_.back());
}

std::optional<std::uint32_t> CoverState::evaluate() {
  std::optional<std::uint32_t> dead;
  for (std::size_t at = 0; at < touched_.size() && !dead; ++at) {
    if (!evaluate(touched_[at])) dead = touched_[at];
  }
  for (std::uint32_t clique : touched_) is_touched_.reset(clique);
  touched_.clear();
  return dead;
}

// False if it cannot be completed.
bool CoverState::evaluate(std::uint32_t clique) {
  std::int64_t floor = kNoOffset;
  std::int64_t second = kNoOffset;  // the lowest offset that is not the floor
  std::int64_t at_floor = 0;        // spans of the candidates
  std::uint32_t candidates = 0;
  bool fits = true;
  for (std::uint32_t buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer)) continue;
    const std::int64_t low = low_[buffer];
    if (low + problem_.buffers[buffer].size > capacity_) fits = false;
    if (low < floor) {
      second = floor;
      floor = low;
      at_floor = 0;
      candidates = 0;
    }
    if (low == floor) {
      ++candidates;
      at_floor += problem_.buffers[buffer].span;
    } else {
      second = std::min(second, low);
    }
  }
  work_ += static_cast<std::int64_t>(problem_.members(clique).size());
  if (!fits) return false;
  save(clique);
  CliqueState& self = cliques_[clique];
  self.candidates = candidates;
  if (candidates == 0) return true;
  self.floor = floor;
  self.floor_key = key_of_floor(clique, floor);
  self.slack = room_above(clique, floor) - self.remaining;
  if (rules_.slack && self.slack < 0) return false;
  // The candidates may go below `second`; all others must fit above it.
  return !rules_.start_bound || second == kNoOffset || room_above(clique, second) >= self.remaining - at_floor;
}

// Whether a buffer must lie at the floor or the clique can be lifted: no clique of a candidate has a lower floor.
bool CoverState::is_decidable(std::uint32_t clique) {
  const std::int64_t floor = cliques_[clique].floor;
  for (std::uint32_t buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer) || low_[buffer] != floor) continue;
    const std::span<const std::uint32_t> cliques = problem_.cliques_of(buffer);
    work_ += static_cast<std::int64_t>(cliques.size()) / 4;
    const bool is_lowest = std::all_of(cliques.begin(), cliques.end(),
                                       [&](std::uint32_t other) { return cliques_[other].floor == floor; });
    if (!is_lowest) return false;
  }
  return true;
}

// A packing in which no buffer can be moved down alone: one that is not at its low rests on a blocked range, or on
// another one that remains, shares a clique with it, and hence lies at or above its low. The lowest buffer of
// `clique` rests on no other buffer of the clique.
std::optional<std::int64_t> CoverState::next_floor(std::uint32_t clique) {
  const std::int64_t floor = cliques_[clique].floor;
  const std::uint64_t in_clique = ++stamp_;
  for (std::uint32_t buffer : problem_.members(clique)) stamp_of_buffer_[buffer] = in_clique;
  std::int64_t next = kNoOffset;
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer)) continue;
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
  // By the lowest end of another buffer in its cliques. A clique that several candidates share is looked at for each
  // of them if their alignments differ, and once if not.
  std::sort(candidates.begin(), candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(problem_.buffers[a].alignment, a) < std::pair(problem_.buffers[b].alignment, b);
  });
  std::int64_t alignment = 0;
  std::uint64_t seen = 0;
  for (std::uint32_t candidate : candidates) {
    if (problem_.buffers[candidate].alignment != alignment) {
      alignment = problem_.buffers[candidate].alignment;
      seen = ++stamp_;
    }
    for (std::uint32_t other : problem_.cliques_of(candidate)) {
      if (stamp_of_clique_[other] == seen) continue;
      stamp_of_clique_[other] = seen;
      work_ += static_cast<std::int64_t>(problem_.members(other).size()) / 2;
      for (std::uint32_t below : problem_.members(other)) {
        if (!is_remaining_.test(below) || stamp_of_buffer_[below] == in_clique) continue;
        next = std::min(next, cover_rounded(low_[below] + problem_.buffers[below].size, alignment));
      }
    }
  }
  return next == kNoOffset ? std::nullopt : std::optional(next);
}

StateKey CoverState::key_of(Part part) const {
  StateKey key;
  for (std::uint32_t clique : cliques_of(part)) {
    if (cliques_[clique].remaining == 0) continue;
    add_key(key, cliques_[clique].floor_key);
    add_key(key, cliques_[clique].set_key);
  }
  key = {Random(key.low).next(), Random(key.high + kCoverSeed).next()};
  return {key.low, key.high | 1U};  // never the key of a free slot
}

}  // namespace lowtide::allocate_internal
