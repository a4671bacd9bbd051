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
      first_(problem.cliques()),
      next_(problem.buffers.size()),
      previous_(problem.buffers.size()),
      offset_(problem.buffers.size(), 0),
      height_key_(problem.cliques()),
      set_key_(problem.cliques()),
      buffer_key_(problem.buffers.size()),
      count_change_(problem.cliques() + 1, 0),
      bytes_change_(problem.cliques() + 1, 0),
      rest_(problem.cliques(), 0),
      touched_(whole()) {
  Random random(kValleySeed);
  for (StateKey& key : buffer_key_) key = {random.next(), random.next()};
  for (CliqueId clique : all_ids<CliqueId>(problem.cliques())) set_height(clique, 0);
  // The last buffer goes first, so that each list begins with the lowest id.
  for (std::size_t at = problem.buffers.size(); at-- > 0;) {
    const SearchBuffer id(static_cast<std::uint32_t>(at));
    const CliqueSpan span = problem.buffers[id].cliques;
    link(id);
    for (CliqueId clique : cliques_in(span)) remaining_[clique] += problem.buffers[id].size;
    for (CliqueId clique : cliques_in({next(span.begin), span.end})) ++crossing_[clique];
  }
}

void ValleyState::link(SearchBuffer buffer) {
  const CliqueId begin = problem_.buffers[buffer].cliques.begin;
  set_key_[begin] += buffer_key_[buffer];
  // Moves are undone in reverse order, so `previous_` and `next_` still hold the neighbours that the buffer had when it
  // was unlinked.
  if (!previous_[buffer]) {
    if (!next_[buffer]) next_[buffer] = first_[begin];
    first_[begin] = buffer;
  } else {
    next_[*previous_[buffer]] = buffer;
  }
  if (next_[buffer]) previous_[*next_[buffer]] = buffer;
}

void ValleyState::unlink(SearchBuffer buffer) {
  const CliqueId begin = problem_.buffers[buffer].cliques.begin;
  set_key_[begin] -= buffer_key_[buffer];
  (previous_[buffer] ? next_[*previous_[buffer]] : first_[begin]) = next_[buffer];
  if (next_[buffer]) previous_[*next_[buffer]] = previous_[buffer];
}

void ValleyState::set_height(CliqueId clique, std::int64_t height) {
  height_[clique] = height;
  height_key_[clique] = key_of_height(clique, height);
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
  unlink(buffer);
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
  const std::optional<std::int64_t> to = next_height(clique, component);
  const std::int64_t needed = rules_.slack ? remaining_[clique] : 0;
  if (!to || *to + needed > capacity_) return false;
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
    link(*move.buffer);
    for (CliqueId own : cliques_in(self.cliques)) {
      set_height(own, offset_[*move.buffer]);
      remaining_[own] += self.size;
    }
    for (CliqueId own : cliques_in({next(self.cliques.begin), self.cliques.end})) ++crossing_[own];
    touch(self.cliques);
  }
}

CliqueId ValleyState::end_of_run(CliqueId begin, CliqueId end) const {
  CliqueId at = next(begin);
  while (at < end && is_crossed(at) && height_[at] == height_[begin]) at = next(at);
  return at;
}

CliqueSpan ValleyState::run_of(CliqueId clique) const {
  CliqueSpan run{clique, end_of_run(clique, whole().end)};
  while (run.begin > whole().begin && is_crossed(run.begin) && height_[previous(run.begin)] == height_[clique]) {
    run.begin = previous(run.begin);
  }
  return run;
}

bool ValleyState::is_valley(CliqueSpan run) const {
  const std::int64_t floor = height_[run.begin];
  return (!is_crossed(run.begin) || height_[previous(run.begin)] > floor) &&
         (!is_crossed(run.end) || height_[run.end] > floor);
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
  CliqueSpan range{run_of(touched_.begin).begin, run_of(previous(touched_.end)).end};
  if (is_crossed(range.begin)) range.begin = run_of(previous(range.begin)).begin;
  if (is_crossed(range.end)) range.end = run_of(range.end).end;
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
  const std::int64_t floor = height_[run.begin];
  const std::optional<std::int64_t> side = lower_side_of(run);
  std::uint32_t count = 0;
  std::int64_t within = 0;  // bytes of the remaining buffers that are live only within the run
  std::optional<CliqueId> dead;
  for (CliqueId clique : cliques_in(run)) {
    for (std::optional<SearchBuffer> buffer = first_[clique]; buffer; buffer = next_[*buffer]) {
      const IntervalProblem::Buffer& self = problem_.buffers[*buffer];
      ++work_;
      if (self.cliques.end > run.end) continue;
      const bool is_aligned = (floor & (self.alignment - 1)) == 0;
      count += is_aligned ? 1U : 0U;
      within += self.size;
      count_change_[self.cliques.end] -= is_aligned ? 1 : 0;
      bytes_change_[self.cliques.end] -= self.size;
    }
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
        rules_.start_bound && within < remaining_[clique] && side && *side - floor - within > slack;
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
  const CliqueSpan run = run_of(clique);
  const std::size_t before = out.size();
  const std::int64_t floor = height_[clique];
  for (CliqueId begin : cliques_in({run.begin, next(clique)})) {
    const auto first_here = static_cast<std::ptrdiff_t>(out.size());
    for (std::optional<SearchBuffer> buffer = first_[begin]; buffer; buffer = next_[*buffer]) {
      const IntervalProblem::Buffer& self = problem_.buffers[*buffer];
      const bool is_candidate =
          self.cliques.end > clique && self.cliques.end <= run.end && (floor & (self.alignment - 1)) == 0;
      if (!is_candidate) continue;
      const bool is_listed = rules_.interchangeable &&
                             std::any_of(out.begin() + first_here, out.end(),
                                         [&](SearchBuffer other) { return are_interchangeable(other, *buffer); });
      if (!is_listed) out.push_back(*buffer);
    }
  }
  LOWTIDE_CHECK(out.size() - before <= candidates(clique), "a clique has at most as many candidates as were counted");
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

// The lowest height that a buffer of `clique` can have if no candidate lies at the present one. Returns nullopt if
// there is none. Every buffer of a packing can be lowered until it rests on the ground or on another buffer. So an
// offset is 0 or the end of a buffer, rounded up.
std::optional<std::int64_t> ValleyState::next_height(CliqueId clique, CliqueSpan component) {
  const std::int64_t floor = height_[clique];
  std::int64_t lowest = kNoHeight;
  CliqueSpan reach{clique, clique};  // of the candidates
  std::int64_t least_alignment = kNoHeight;
  find_rests(clique, component);
  for (CliqueId begin : cliques_in({component.begin, next(clique)})) {
    for (std::optional<SearchBuffer> buffer = first_[begin]; buffer; buffer = next_[*buffer]) {
      const IntervalProblem::Buffer& self = problem_.buffers[*buffer];
      ++work_;
      const CliqueId end = self.cliques.end;
      if (end <= clique) continue;
      const std::int64_t offset = aligned_up(std::max(rest_[begin], rest_[previous(end)]), self.alignment);
      if (offset > floor) {
        lowest = std::min(lowest, offset);
      } else {
        reach = {std::min(reach.begin, begin), std::max(reach.end, end)};
        least_alignment = std::min(least_alignment, self.alignment);
      }
    }
  }
  // A candidate can lie higher only on top of a buffer that is not in the clique.
  for (CliqueId begin : cliques_in({component.begin, reach.end})) {
    for (std::optional<SearchBuffer> buffer = first_[begin]; buffer; buffer = next_[*buffer]) {
      const IntervalProblem::Buffer& self = problem_.buffers[*buffer];
      ++work_;
      if (self.cliques.end <= reach.begin || self.cliques.contains(clique)) continue;
      const std::int64_t rest = std::max({height_[begin], height_[previous(self.cliques.end)], floor});
      lowest = std::min(lowest, aligned_up(rest + self.size, least_alignment));
    }
  }
  return lowest == kNoHeight ? std::nullopt : std::optional(lowest);
}

StateKey ValleyState::key_of(CliqueSpan component) const {
  StateKey key{component.begin.value(), component.end.value()};
  for (CliqueId clique : cliques_in(component)) {
    key.low += height_key_[clique].low + set_key_[clique].low;
    key.high += height_key_[clique].high + set_key_[clique].high;
  }
  key = scattered(key.low, key.high);
  return {key.low, key.high | 1U};  // not the key of a free slot
}

}  // namespace lowtide::allocate_internal
