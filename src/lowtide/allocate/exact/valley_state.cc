// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/valley_state.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/base/random.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::int64_t kNoHeight = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kValleySeed = 0x10371DE;

// Scatters both words over all 64-bit numbers, independently of each other.
StateKey scattered(std::uint64_t low, std::uint64_t high) {
  return {Random(low ^ kValleySeed).next(), Random(high + 0x5851F42D4C957F2DULL * kValleySeed).next()};
}

StateKey key_of_height(CliqueId clique, std::int64_t height) {
  const std::uint64_t of_clique = Random(clique.value()).next();
  const auto value = static_cast<std::uint64_t>(height);
  return scattered(of_clique + value, (of_clique ^ 0x14057B7EF767814FULL) + 3 * value);
}

}  // namespace

ValleyState::ValleyState(const IntervalProblem& problem, const SkylineRules& rules)
    : problem_(problem),
      rules_(rules),
      height_(problem.cliques(), 0),
      remaining_(problem.cliques(), 0),
      crossing_(problem.cliques() + 1, 0),
      candidates_(problem.cliques()),
      buffers_(problem),
      offset_(problem.buffers.size(), 0),
      height_key_(problem.cliques()),
      clique_key_(problem.cliques()),
      buffer_key_(problem.buffers.size()),
      count_change_(problem.cliques() + 1, 0),
      bytes_change_(problem.cliques() + 1, 0),
      rest_(problem.cliques(), 0),
      touched_(whole()) {
  Random random(kValleySeed);
  for (StateKey& key : buffer_key_) key = {random.next(), random.next()};
  for (CliqueId clique : all_ids<CliqueId>(problem.cliques())) set_height(clique, 0);
  for (SearchBuffer id : all_ids<SearchBuffer>(problem.buffers.size())) {
    const CliqueSpan span = problem.buffers[id].cliques;
    clique_key_[span.begin] += buffer_key_[id];
    for (CliqueId clique : cliques_in(span)) remaining_[clique] += problem.buffers[id].size;
    for (CliqueId clique : cliques_in({next(span.begin), span.end})) ++crossing_[clique];
  }
}

void ValleyState::insert(SearchBuffer buffer) {
  buffers_.insert(buffer);
  clique_key_[problem_.buffers[buffer].cliques.begin] += buffer_key_[buffer];
}

void ValleyState::remove(SearchBuffer buffer) {
  buffers_.remove(buffer);
  clique_key_[problem_.buffers[buffer].cliques.begin] -= buffer_key_[buffer];
}

void ValleyState::set_height(CliqueId clique, std::int64_t height) {
  height_[clique] = height;
  clique_key_[clique] -= height_key_[clique];
  height_key_[clique] = key_of_height(clique, height);
  clique_key_[clique] += height_key_[clique];
}

void ValleyState::touch(CliqueSpan span) {
  touched_ =
      touched_.empty() ? span : CliqueSpan{std::min(touched_.begin, span.begin), std::max(touched_.end, span.end)};
}

void ValleyState::set_capacity(std::int64_t capacity) {
  undo(0);
  exact_capacity_ = capacity;
  capacity_ = aligned_up(capacity, problem_.unit);
  touched_ = whole();
}

bool ValleyState::has_remaining(CliqueSpan& component) const {
  while (!component.empty() && remaining_[component.begin] == 0) component.begin = next(component.begin);
  while (!component.empty() && remaining_[previous(component.end)] == 0) component.end = previous(component.end);
  return !component.empty();
}

bool ValleyState::assign(CliqueId clique, SearchBuffer buffer) {
  const IntervalProblem::Buffer& self = problem_.buffers[buffer];
  const std::int64_t offset = height_[clique];
  if (offset + self.size - self.padding > exact_capacity_) return false;
  remove(buffer);
  offset_[buffer] = offset;
  for (CliqueId own : cliques_in(self.cliques)) {
    set_height(own, offset + self.size);
    remaining_[own] -= self.size;
  }
  for (CliqueId own : cliques_in({next(self.cliques.begin), self.cliques.end})) --crossing_[own];
  touch(self.cliques);
  trail_.push_back({.buffer = buffer});
  return true;
}

bool ValleyState::lift(CliqueId clique, CliqueSpan component) {
  const std::int64_t needed = rules_.slack ? remaining_[clique] : 0;
  const std::optional<std::int64_t> to = next_height(clique, component, capacity_ - needed);
  if (!to) return false;
  trail_.push_back({.buffer = std::nullopt, .clique = clique, .before = height_[clique]});
  set_height(clique, *to);
  touch({clique, next(clique)});
  return true;
}

void ValleyState::split(CliqueSpan component, std::vector<CliqueSpan>& components) const {
  const auto first = static_cast<std::ptrdiff_t>(components.size());
  for (CliqueId begin = component.begin; begin < component.end;) {
    CliqueId end = next(begin);
    while (end < component.end && is_crossed(end)) end = next(end);
    if (remaining_[begin] > 0) components.push_back({begin, end});
    begin = end;
  }
  std::sort(components.begin() + first, components.end(),
            [](CliqueSpan a, CliqueSpan b) { return std::tuple(length(a), a.begin) < std::tuple(length(b), b.begin); });
}

void ValleyState::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Move& move = trail_.back();
    if (!move.buffer) {
      set_height(move.clique, move.before);
      touch({move.clique, next(move.clique)});
      continue;
    }
    const IntervalProblem::Buffer& self = problem_.buffers[*move.buffer];
    insert(*move.buffer);
    for (CliqueId own : cliques_in(self.cliques)) {
      set_height(own, offset_[*move.buffer]);
      remaining_[own] += self.size;
    }
    for (CliqueId own : cliques_in({next(self.cliques.begin), self.cliques.end})) ++crossing_[own];
    touch(self.cliques);
  }
}

CliqueId ValleyState::begin_of_run(CliqueId clique) const {
  CliqueId begin = clique;
  while (begin > whole().begin && is_crossed(begin) && height_[previous(begin)] == height_[clique]) {
    begin = previous(begin);
  }
  return begin;
}

CliqueId ValleyState::end_of_run(CliqueId clique, CliqueId last) const {
  CliqueId end = next(clique);
  while (end < last && is_crossed(end) && height_[end] == height_[clique]) end = next(end);
  return end;
}

bool ValleyState::is_valley(CliqueSpan run) const {
  const std::int64_t bottom = height_[run.begin];
  return (!is_crossed(run.begin) || height_[previous(run.begin)] > bottom) &&
         (!is_crossed(run.end) || height_[run.end] > bottom);
}

// The lower of the heights beside the run, on the sides that remaining buffers cross. Returns nullopt if they cross
// neither side.
std::optional<std::int64_t> ValleyState::lower_side_of(CliqueSpan run) const {
  std::optional<std::int64_t> side;
  if (is_crossed(run.begin)) side = height_[previous(run.begin)];
  if (is_crossed(run.end)) side = std::min(side.value_or(kNoHeight), height_[run.end]);
  return side;
}

std::optional<CliqueId> ValleyState::evaluate() {
  if (touched_.empty()) return std::nullopt;
  // A change affects the runs that it is in. It also affects the runs beside them, because their sides have changed.
  CliqueSpan range{begin_of_run(touched_.begin), end_of_run(previous(touched_.end), whole().end)};
  if (is_crossed(range.begin)) range.begin = begin_of_run(previous(range.begin));
  if (is_crossed(range.end)) range.end = end_of_run(range.end, whole().end);
  for (CliqueId begin = range.begin; begin < range.end;) {
    const CliqueSpan run{begin, end_of_run(begin, range.end)};
    if (const std::optional<CliqueId> dead = evaluate_run(run)) return dead;
    begin = run.end;
  }
  touched_ = {};
  return std::nullopt;
}

std::optional<CliqueId> ValleyState::evaluate_run(CliqueSpan run) {
  work_ += length(run);
  if (!is_valley(run)) {
    for (CliqueId clique : cliques_in(run)) candidates_[clique].reset();
    return std::nullopt;
  }
  const std::int64_t bottom = height_[run.begin];
  const std::optional<std::int64_t> side = lower_side_of(run);
  std::uint32_t count = 0;
  std::int64_t within = 0;  // bytes of the remaining buffers that are live only within the run
  std::optional<CliqueId> dead;
  work_ += buffers_.for_each_beginning_in(run, [&](SearchBuffer buffer) {
    const IntervalProblem::Buffer& self = problem_.buffers[buffer];
    if (self.cliques.end > run.end) return;
    const int aligned = (bottom & (self.alignment - 1)) == 0 ? 1 : 0;
    count_change_[self.cliques.begin] += aligned;
    bytes_change_[self.cliques.begin] += self.size;
    count_change_[self.cliques.end] -= aligned;
    bytes_change_[self.cliques.end] -= self.size;
  });
  for (CliqueId clique : cliques_in(run)) {
    count += static_cast<std::uint32_t>(count_change_[clique]);
    within += bytes_change_[clique];
    count_change_[clique] = 0;
    bytes_change_[clique] = 0;
    if (remaining_[clique] == 0) {
      candidates_[clique].reset();
      continue;
    }
    candidates_[clique] = count;
    if (dead) continue;
    const std::int64_t slack = this->slack(clique);
    // Buffers that cross a side lie at or above its height. The others may not fill the space below.
    const bool wastes_too_much =
        rules_.start_bound && within < remaining_[clique] && side && *side - bottom - within > slack;
    const bool is_full = rules_.slack && (slack < 0 || (slack == 0 && count == 0));
    if (is_full || wastes_too_much) dead = clique;
  }
  count_change_[run.end] = 0;
  bytes_change_[run.end] = 0;
  return dead;
}

bool ValleyState::are_interchangeable(SearchBuffer a, SearchBuffer b) const {
  const IntervalProblem::Buffer& first = problem_.buffers[a];
  const IntervalProblem::Buffer& second = problem_.buffers[b];
  return first.cliques == second.cliques && first.size == second.size && first.alignment == second.alignment &&
         first.padding == second.padding;
}

void ValleyState::append_candidates(CliqueId clique, std::vector<SearchBuffer>& out) const {
  const CliqueSpan run{begin_of_run(clique), end_of_run(clique, whole().end)};
  const std::size_t before = out.size();
  const std::int64_t bottom = height_[clique];
  buffers_.for_each_beginning_in({run.begin, next(clique)}, [&](SearchBuffer buffer) {
    const IntervalProblem::Buffer& self = problem_.buffers[buffer];
    const bool is_candidate =
        self.cliques.end > clique && self.cliques.end <= run.end && (bottom & (self.alignment - 1)) == 0;
    if (!is_candidate) return;
    const bool is_listed =
        rules_.interchangeable && std::any_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                                              [&](SearchBuffer other) { return are_interchangeable(other, buffer); });
    if (!is_listed) out.push_back(buffer);
  });
  LOWTIDE_CHECK(out.size() - before <= candidates(clique), "a clique has at most as many candidates as were counted");
}

// The lowest height that a buffer of `clique` can have if no candidate lies at the present one. Returns nullopt if
// there is none up to `highest`. Every buffer of a packing can be lowered until it rests on the ground or on another
// buffer. So an offset is 0 or the end of a buffer, rounded up.
std::optional<std::int64_t> ValleyState::next_height(CliqueId clique, CliqueSpan component, std::int64_t highest) {
  std::int64_t lowest = highest + 1;
  find_rests(clique, component);
  const Reach reach = find_rests_above_bottom(clique, component, lowest);
  find_rests_on_others(clique, component, reach, lowest);
  return lowest > highest ? std::nullopt : std::optional(lowest);
}

// Sets rest_[s] to the greatest height between s and `clique`, both included. A buffer of `clique` rests no lower than
// the larger of the values at its first and last clique.
void ValleyState::find_rests(CliqueId clique, CliqueSpan component) {
  std::int64_t highest = height_[clique];
  for (CliqueId at = next(clique); at > component.begin;) {
    at = previous(at);
    rest_[at] = highest = std::max(highest, height_[at]);
  }
  highest = height_[clique];
  for (CliqueId at : cliques_in({clique, component.end})) rest_[at] = highest = std::max(highest, height_[at]);
  work_ += length(component);
}

// Lowers `lowest` to the least offset, above the bottom, at which a buffer of the clique can rest on what is assigned.
// The buffers that can rest at the bottom are the candidates.
ValleyState::Reach ValleyState::find_rests_above_bottom(CliqueId clique, CliqueSpan component, std::int64_t& lowest) {
  const std::int64_t bottom = height_[clique];
  Reach reach{{clique, clique}, kNoHeight};
  work_ += buffers_.for_each_beginning_in({component.begin, next(clique)}, [&](SearchBuffer buffer) {
    const auto [begin, end] = problem_.buffers[buffer].cliques;
    if (end <= clique) return;
    const std::int64_t alignment = problem_.buffers[buffer].alignment;
    const std::int64_t offset = aligned_up(std::max(rest_[begin], rest_[previous(end)]), alignment);
    if (offset > bottom) {
      lowest = std::min(lowest, offset);
    } else {
      reach.cliques = {std::min(reach.cliques.begin, begin), std::max(reach.cliques.end, end)};
      reach.least_alignment = std::min(reach.least_alignment, alignment);
    }
  });
  return reach;
}

// Lowers `lowest` to the least end of a buffer that a candidate could rest on. Such a buffer is not in the clique.
void ValleyState::find_rests_on_others(CliqueId clique, CliqueSpan component, const Reach& reach,
                                       std::int64_t& lowest) {
  const CliqueSpan beginning{component.begin, reach.cliques.end};
  if (reach.cliques.empty()) {
    work_ += buffers_.count_beginning_in(beginning);
    return;
  }
  const std::int64_t bottom = height_[clique];
  work_ += buffers_.for_each_beginning_in(beginning, [&](SearchBuffer buffer) {
    const IntervalProblem::Buffer& self = problem_.buffers[buffer];
    if (bottom + self.size >= lowest || self.cliques.end <= reach.cliques.begin || self.cliques.contains(clique))
      return;
    const std::int64_t rest = std::max({height_[self.cliques.begin], height_[previous(self.cliques.end)], bottom});
    lowest = std::min(lowest, aligned_up(rest + self.size, reach.least_alignment));
  });
}

StateKey ValleyState::key_of(CliqueSpan component) const {
  StateKey key{component.begin.value(), component.end.value()};
  for (CliqueId clique : cliques_in(component)) {
    key += clique_key_[clique];
  }
  key = scattered(key.low, key.high);
  return {key.low, key.high | 1U};  // not the key of a free slot
}

}  // namespace lowtide::allocate_internal
