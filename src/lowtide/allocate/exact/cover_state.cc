// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/cover_state.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/base/random.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kCoverSeed = 0xC07E5;

StateKey key_of_bottom(CliqueId clique, std::int64_t bottom) {
  const std::uint64_t of_clique = Random(clique.value() + kCoverSeed).next();
  const auto value = static_cast<std::uint64_t>(bottom);
  return {Random(of_clique + value).next(), Random((of_clique ^ 0x14057B7EF767814FULL) + 3 * value).next()};
}

}  // namespace

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
  for (SearchBuffer buffer : all_ids<SearchBuffer>(problem.buffers.size())) {
    low_[buffer] = lowest_free(buffer, 0);
    for (CliqueId clique : problem.cliques_of(buffer)) {
      cliques_[clique].remaining += problem.buffers[buffer].padded_size;
    }
    LOWTIDE_CHECK(!problem.cliques_of(buffer).empty(), "every movable buffer is in a clique");
    cliques_[problem.cliques_of(buffer).front()].set_key += buffer_key_[buffer];
  }
}

void CoverState::set_capacity(std::int64_t capacity) {
  undo({});
  capacity_ = capacity;
  for (CliqueId clique : all_ids<CliqueId>(cliques_.size())) touch(clique);
}

// The lowest offset at or above `from` that is aligned and without blocked bytes.
std::int64_t CoverState::lowest_free(SearchBuffer buffer, std::int64_t from) const {
  const CoverProblem::Buffer& self = problem_.buffers[buffer];
  const std::vector<AddressRange>& blocked = problem_.blocked_for[buffer];
  std::int64_t offset = aligned_up(from, self.alignment);
  auto next = std::partition_point(blocked.begin(), blocked.end(),
                                   [&](const AddressRange& range) { return range.end <= offset; });
  for (; next != blocked.end() && next->begin < offset + self.size; ++next) {
    offset = std::max(offset, aligned_up(next->end, self.alignment));
  }
  return offset;
}

// The bytes of the whole units between `from` and the capacity that are not blocked. The capacity is rounded up,
// because the topmost buffer needs no padding.
std::int64_t CoverState::space_above(CliqueId clique, std::int64_t from) const {
  const std::int64_t unit = problem_.unit;
  std::int64_t space = 0;
  std::int64_t begin = aligned_up(from, unit);
  for (const AddressRange& range : problem_.blocked_in[clique]) {
    if (range.end <= begin) continue;
    space += std::max<std::int64_t>(aligned_up(range.begin, unit) - begin, 0);
    begin = aligned_up(range.end, unit);
  }
  return space + aligned_up(capacity_, unit) - begin;
}

void CoverState::save(CliqueId clique) { clique_trail_.push_back({clique, cliques_[clique]}); }

void CoverState::touch(CliqueId clique) {
  if (is_touched_.insert(clique)) touched_.push_back(clique);
}

void CoverState::raise(CliqueId clique, std::int64_t height) {
  for (SearchBuffer buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer) || top_[buffer] >= height) continue;
    buffer_trail_.push_back({buffer, top_[buffer], low_[buffer]});
    top_[buffer] = height;
    if (low_[buffer] >= height) continue;
    low_[buffer] = lowest_free(buffer, height);
    for (CliqueId other : problem_.cliques_of(buffer)) touch(other);
    work_ += static_cast<std::int64_t>(problem_.cliques_of(buffer).size()) / 2;
  }
  work_ += static_cast<std::int64_t>(problem_.members(clique).size());
}

CoverState::Component CoverState::whole() {
  component_cliques_.clear();
  for (CliqueId clique : all_ids<CliqueId>(problem_.cliques())) component_cliques_.push_back(clique);
  return {0, component_cliques_.size()};
}

bool CoverState::has_remaining(Component component) {
  const std::span<const CliqueId> cliques = cliques_of(component);
  work_ += static_cast<std::int64_t>(cliques.size()) / 4;
  return std::any_of(cliques.begin(), cliques.end(), [&](CliqueId clique) { return has_remaining(clique); });
}

void CoverState::append_candidates(CliqueId clique, std::vector<SearchBuffer>& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (SearchBuffer buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer) || low_[buffer] != cliques_[clique].bottom) continue;
    const bool is_listed =
        rules_.interchangeable && std::any_of(out.begin() + first, out.end(), [&](SearchBuffer other) {
          return problem_.buffers[other].kind == problem_.buffers[buffer].kind;
        });
    if (!is_listed) out.push_back(buffer);
  }
}

bool CoverState::assign(CliqueId /*clique*/, SearchBuffer buffer) {
  const CoverProblem::Buffer& self = problem_.buffers[buffer];
  const std::span<const CliqueId> cliques = problem_.cliques_of(buffer);
  offset_[buffer] = low_[buffer];
  is_remaining_.reset(buffer);
  assigned_.push_back(buffer);
  for (CliqueId clique : cliques) {
    save(clique);
    cliques_[clique].remaining -= self.padded_size;
    touch(clique);
  }
  cliques_[cliques.front()].set_key -= buffer_key_[buffer];
  for (CliqueId clique : cliques) raise(clique, offset_[buffer] + self.size);
  return true;
}

bool CoverState::lift(CliqueId clique, Component /*component*/) {
  const std::optional<std::int64_t> to = next_bottom(clique);
  if (!to || *to >= capacity_) return false;
  save(clique);
  touch(clique);
  raise(clique, *to);
  return true;
}

void CoverState::split(Component component, std::vector<Component>& components) {
  const auto first = static_cast<std::ptrdiff_t>(components.size());
  ++stamp_;
  for (std::size_t at = component.first; at < component.last; ++at) {
    const CliqueId clique = component_cliques_[at];
    if (stamp_of_clique_[clique] != stamp_ && has_remaining(clique)) collect_component(clique, components);
  }
  std::sort(components.begin() + first, components.end(), [](Component a, Component b) {
    return std::tuple(a.last - a.first, a.first) < std::tuple(b.last - b.first, b.first);
  });
}

void CoverState::collect_component(CliqueId from, std::vector<Component>& components) {
  const std::size_t first = component_cliques_.size();
  stamp_of_clique_[from] = stamp_;
  component_cliques_.push_back(from);
  for (std::size_t at = first; at < component_cliques_.size(); ++at) {
    const std::span<const SearchBuffer> members = problem_.members(component_cliques_[at]);
    work_ += static_cast<std::int64_t>(members.size()) / 4;
    for (SearchBuffer buffer : members) {
      if (!is_remaining_.test(buffer) || stamp_of_buffer_[buffer] == stamp_) continue;
      stamp_of_buffer_[buffer] = stamp_;
      const std::span<const CliqueId> others = problem_.cliques_of(buffer);
      work_ += static_cast<std::int64_t>(others.size()) / 4;
      for (CliqueId other : others) {
        if (stamp_of_clique_[other] == stamp_) continue;
        stamp_of_clique_[other] = stamp_;
        component_cliques_.push_back(other);
      }
    }
  }
  components.push_back({first, component_cliques_.size()});
}

void CoverState::undo(const Mark& mark) {
  for (CliqueId clique : touched_) is_touched_.reset(clique);
  touched_.clear();
  for (; clique_trail_.size() > mark.cliques; clique_trail_.pop_back()) {
    cliques_[clique_trail_.back().clique] = clique_trail_.back().state;
  }
  for (; buffer_trail_.size() > mark.buffers; buffer_trail_.pop_back()) {
    top_[buffer_trail_.back().buffer] = buffer_trail_.back().top;
    low_[buffer_trail_.back().buffer] = buffer_trail_.back().low;
  }
  for (; assigned_.size() > mark.assigned; assigned_.pop_back()) is_remaining_.set(assigned_.back());
}

std::optional<CliqueId> CoverState::evaluate() {
  std::optional<CliqueId> dead;
  for (std::size_t at = 0; at < touched_.size() && !dead; ++at) {
    if (!evaluate(touched_[at])) dead = touched_[at];
  }
  for (CliqueId clique : touched_) is_touched_.reset(clique);
  touched_.clear();
  return dead;
}

// Returns false if the clique cannot be completed.
bool CoverState::evaluate(CliqueId clique) {
  std::int64_t bottom = kInfinity;
  std::int64_t second = kInfinity;  // the lowest offset above the bottom
  std::int64_t at_bottom = 0;       // padded sizes of the candidates
  std::uint32_t candidates = 0;
  bool fits = true;
  for (SearchBuffer buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer)) continue;
    const std::int64_t low = low_[buffer];
    if (low + problem_.buffers[buffer].size > capacity_) fits = false;
    if (low < bottom) {
      second = bottom;
      bottom = low;
      at_bottom = 0;
      candidates = 0;
    }
    if (low == bottom) {
      ++candidates;
      at_bottom += problem_.buffers[buffer].padded_size;
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
  self.bottom = bottom;
  self.bottom_key = key_of_bottom(clique, bottom);
  self.slack = space_above(clique, bottom) - self.remaining;
  if (rules_.slack && self.slack < 0) return false;
  // The candidates may start below `second`. All other buffers must fit above it.
  return !rules_.start_bound || second == kInfinity || space_above(clique, second) >= self.remaining - at_bottom;
}

bool CoverState::is_decidable(CliqueId clique) {
  const std::int64_t bottom = cliques_[clique].bottom;
  for (SearchBuffer buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer) || low_[buffer] != bottom) continue;
    const std::span<const CliqueId> cliques = problem_.cliques_of(buffer);
    work_ += static_cast<std::int64_t>(cliques.size()) / 4;
    const bool is_lowest =
        std::all_of(cliques.begin(), cliques.end(), [&](CliqueId other) { return cliques_[other].bottom == bottom; });
    if (!is_lowest) return false;
  }
  return true;
}

// The least of the offsets in the proof in the header: the lows of buffers of the clique that are not candidates, and
// the offsets of candidates on top of blocked ranges and other buffers.
std::optional<std::int64_t> CoverState::next_bottom(CliqueId clique) {
  const std::int64_t bottom = cliques_[clique].bottom;
  const std::uint64_t in_clique = ++stamp_;
  for (SearchBuffer buffer : problem_.members(clique)) stamp_of_buffer_[buffer] = in_clique;
  std::int64_t next = kInfinity;
  std::vector<SearchBuffer> candidates;
  for (SearchBuffer buffer : problem_.members(clique)) {
    if (!is_remaining_.test(buffer)) continue;
    if (low_[buffer] > bottom) {
      next = std::min(next, low_[buffer]);
      continue;
    }
    candidates.push_back(buffer);
    const std::vector<AddressRange>& blocked = problem_.blocked_for[buffer];
    const auto above = std::partition_point(blocked.begin(), blocked.end(),
                                            [&](const AddressRange& range) { return range.end <= bottom; });
    if (above != blocked.end()) next = std::min(next, lowest_free(buffer, above->end));
  }
  next = std::min(next, lowest_end_beside(candidates, in_clique));
  return next == kInfinity ? std::nullopt : std::optional(next);
}

// Examines the buffers in the cliques of the candidates that are not stamped with `in_clique`. Returns the lowest of
// their ends, rounded up to the alignment of the candidate. Sorts the candidates by alignment, so that a clique that
// several of them share is examined once per alignment.
std::int64_t CoverState::lowest_end_beside(std::vector<SearchBuffer>& candidates, std::uint64_t in_clique) {
  std::sort(candidates.begin(), candidates.end(), [&](SearchBuffer a, SearchBuffer b) {
    return std::pair(problem_.buffers[a].alignment, a) < std::pair(problem_.buffers[b].alignment, b);
  });
  std::int64_t lowest = kInfinity;
  std::int64_t alignment = 0;
  std::uint64_t seen = 0;
  for (SearchBuffer candidate : candidates) {
    if (problem_.buffers[candidate].alignment != alignment) {
      alignment = problem_.buffers[candidate].alignment;
      seen = ++stamp_;
    }
    for (CliqueId other : problem_.cliques_of(candidate)) {
      if (stamp_of_clique_[other] == seen) continue;
      stamp_of_clique_[other] = seen;
      work_ += static_cast<std::int64_t>(problem_.members(other).size()) / 2;
      for (SearchBuffer below : problem_.members(other)) {
        if (!is_remaining_.test(below) || stamp_of_buffer_[below] == in_clique) continue;
        lowest = std::min(lowest, aligned_up(low_[below] + problem_.buffers[below].size, alignment));
      }
    }
  }
  return lowest;
}

StateKey CoverState::key_of(Component component) const {
  StateKey key;
  for (CliqueId clique : cliques_of(component)) {
    if (cliques_[clique].remaining == 0) continue;
    key += cliques_[clique].bottom_key;
    key += cliques_[clique].set_key;
  }
  key = {Random(key.low).next(), Random(key.high + kCoverSeed).next()};
  return {key.low, key.high | 1U};  // not the key of a free slot
}

}  // namespace lowtide::allocate_internal
