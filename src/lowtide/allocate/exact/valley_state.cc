// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/valley_state.h"

#include <algorithm>
#include <tuple>

#include "lowtide/base/random.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::int64_t kNoHeight = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kValleySeed = 0x10371DE;

std::int64_t valley_rounded(std::int64_t value, std::int64_t alignment) { return (value + alignment - 1) & -alignment; }

// Two words of the same input that have nothing to do with each other.
StateKey scattered(std::uint64_t low, std::uint64_t high) {
  return {Random(low ^ kValleySeed).next(), Random(high + 0x5851F42D4C957F2DULL * kValleySeed).next()};
}

StateKey key_of_height(Clique clique, std::int64_t height) {
  const std::uint64_t place = Random(clique).next();
  const auto value = static_cast<std::uint64_t>(height);
  return scattered(place + value, (place ^ 0x14057B7EF767814FULL) + 3 * value);
}

}  // namespace

ValleyState::ValleyState(const IntervalProblem& problem, const SkylineRules& rules)
    : problem_(problem),
      rules_(rules),
      height_(problem.clique_count, 0),
      remaining_(problem.clique_count, 0),
      crossing_(problem.clique_count + 1, 0),
      candidates_(problem.clique_count, kNotInValley),
      first_(problem.clique_count, kNone),
      next_(problem.buffers.size(), kNone),
      previous_(problem.buffers.size(), kNone),
      offset_(problem.buffers.size(), 0),
      height_key_(problem.clique_count),
      set_key_(problem.clique_count),
      buffer_key_(problem.buffers.size()),
      count_change_(problem.clique_count + 1, 0),
      bytes_change_(problem.clique_count + 1, 0),
      rest_(problem.clique_count, 0),
      touched_{0, problem.clique_count} {
  Random random(kValleySeed);
  for (StateKey& key : buffer_key_) key = {random.next(), random.next()};
  for (Clique clique = 0; clique < problem.clique_count; ++clique) set_height(clique, 0);
  // The last first: a list then begins with the lowest number.
  for (std::size_t at = problem.buffers.size(); at-- > 0;) {
    const IntervalProblem::Buffer& buffer = problem.buffers[at];
    link(static_cast<std::uint32_t>(at));
    for (Clique clique = buffer.begin; clique < buffer.end; ++clique) remaining_[clique] += buffer.size;
    for (Clique clique = buffer.begin + 1; clique < buffer.end; ++clique) ++crossing_[clique];
  }
}

void ValleyState::link(std::uint32_t buffer) {
  const Clique begin = problem_.buffers[buffer].begin;
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
  const Clique begin = problem_.buffers[buffer].begin;
  StateKey& key = set_key_[begin];
  key = {key.low - buffer_key_[buffer].low, key.high - buffer_key_[buffer].high};
  if (previous_[buffer] == kNone) {
    first_[begin] = next_[buffer];
  } else {
    next_[previous_[buffer]] = next_[buffer];
  }
  if (next_[buffer] != kNone) previous_[next_[buffer]] = previous_[buffer];
}

void ValleyState::set_height(Clique clique, std::int64_t height) {
  height_[clique] = height;
  height_key_[clique] = key_of_height(clique, height);
}

void ValleyState::touch(Clique begin, Clique end) {
  if (touched_.begin >= touched_.end) {
    touched_ = {begin, end};
  } else {
    touched_ = {std::min(touched_.begin, begin), std::max(touched_.end, end)};
  }
}

void ValleyState::set_capacity(std::int64_t capacity) {
  undo(0);
  exact_capacity_ = capacity;
  capacity_ = valley_rounded(capacity, problem_.unit);
  touched_ = whole();
}

bool ValleyState::has_remaining(CliqueRange& part) const {
  while (part.begin < part.end && remaining_[part.begin] == 0) ++part.begin;
  while (part.end > part.begin && remaining_[part.end - 1] == 0) --part.end;
  return part.begin < part.end;
}

bool ValleyState::place(Clique where, std::uint32_t buffer) {
  const IntervalProblem::Buffer& placed = problem_.buffers[buffer];
  const std::int64_t at = height_[where];
  if (at + placed.size - placed.padding > exact_capacity_) return false;
  unlink(buffer);
  offset_[buffer] = at;
  for (Clique clique = placed.begin; clique < placed.end; ++clique) {
    set_height(clique, at + placed.size);
    remaining_[clique] -= placed.size;
  }
  for (Clique clique = placed.begin + 1; clique < placed.end; ++clique) --crossing_[clique];
  touch(placed.begin, placed.end);
  trail_.push_back({.buffer = buffer});
  return true;
}

bool ValleyState::lift(Clique clique, CliqueRange part) {
  const std::optional<std::int64_t> to = next_height(clique, part);
  const std::int64_t needed = rules_.slack ? remaining_[clique] : 0;
  if (!to || *to + needed > capacity_) return false;
  trail_.push_back({.buffer = kNone, .clique = clique, .before = height_[clique]});
  set_height(clique, *to);
  touch(clique, clique + 1);
  return true;
}

void ValleyState::split(CliqueRange part, std::vector<CliqueRange>& parts) const {
  const auto first = static_cast<std::ptrdiff_t>(parts.size());
  for (Clique begin = part.begin; begin < part.end;) {
    Clique end = begin + 1;
    while (end < part.end && crossing_[end] != 0) ++end;
    if (remaining_[begin] > 0) parts.push_back({begin, end});
    begin = end;
  }
  std::sort(parts.begin() + first, parts.end(), [](CliqueRange a, CliqueRange b) {
    return std::tuple(a.end - a.begin, a.begin) < std::tuple(b.end - b.begin, b.begin);
  });
}

void ValleyState::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    const Move move = trail_.back();
    trail_.pop_back();
    if (move.buffer == kNone) {
      set_height(move.clique, move.before);
      touch(move.clique, move.clique + 1);
      continue;
    }
    const IntervalProblem::Buffer& placed = problem_.buffers[move.buffer];
    link(move.buffer);
    for (Clique clique = placed.begin; clique < placed.end; ++clique) {
      set_height(clique, offset_[move.buffer]);
      remaining_[clique] += placed.size;
    }
    for (Clique clique = placed.begin + 1; clique < placed.end; ++clique) ++crossing_[clique];
    touch(placed.begin, placed.end);
  }
}

Clique ValleyState::end_of_run(Clique begin, Clique end) const {
  Clique at = begin + 1;
  while (at < end && crossing_[at] != 0 && height_[at] == height_[begin]) ++at;
  return at;
}

CliqueRange ValleyState::run_of(Clique clique) const {
  CliqueRange run{clique, end_of_run(clique, problem_.clique_count)};
  while (run.begin > 0 && crossing_[run.begin] != 0 && height_[run.begin - 1] == height_[clique]) --run.begin;
  return run;
}

// The lower wall of the run, of those that remaining buffers cross. Returns nullopt if there is none.
std::optional<std::int64_t> ValleyState::wall_of(CliqueRange run) const {
  std::optional<std::int64_t> wall;
  if (crossing_[run.begin] != 0) wall = height_[run.begin - 1];
  if (crossing_[run.end] != 0) wall = std::min(wall.value_or(kNoHeight), height_[run.end]);
  return wall;
}

std::optional<Clique> ValleyState::evaluate() {
  if (touched_.begin >= touched_.end) return std::nullopt;
  // What changed shows in the runs that it lies in and in those beside them, whose walls may have changed.
  CliqueRange range{run_of(touched_.begin).begin, run_of(touched_.end - 1).end};
  if (crossing_[range.begin] != 0) range.begin = run_of(range.begin - 1).begin;
  if (crossing_[range.end] != 0) range.end = run_of(range.end).end;
  for (Clique begin = range.begin; begin < range.end;) {
    const CliqueRange run{begin, end_of_run(begin, range.end)};
    if (const std::optional<Clique> dead = evaluate_run(run)) return dead;
    begin = run.end;
  }
  touched_ = {};
  return std::nullopt;
}

std::optional<Clique> ValleyState::evaluate_run(CliqueRange run) {
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
  std::optional<Clique> dead;
  for (Clique clique = run.begin; clique < run.end; ++clique) {
    for (std::uint32_t buffer = first_[clique]; buffer != kNone; buffer = next_[buffer]) {
      const IntervalProblem::Buffer& self = problem_.buffers[buffer];
      ++work_;
      if (self.end > run.end) continue;
      const bool fits = (floor & (self.alignment - 1)) == 0;
      count += fits ? 1U : 0U;
      within += self.size;
      count_change_[self.end] -= fits ? 1 : 0;
      bytes_change_[self.end] -= self.size;
    }
    count += static_cast<std::uint32_t>(count_change_[clique]);
    within += bytes_change_[clique];
    count_change_[clique] = 0;
    bytes_change_[clique] = 0;
    candidates_[clique] = remaining_[clique] == 0 ? kNotInValley : count;
    if (remaining_[clique] == 0 || dead) continue;
    const std::int64_t slack = this->slack(clique);
    // What crosses a wall starts above it. What lives within may be too little to fill the space up to there.
    const bool shallow =
        rules_.start_bound && within < remaining_[clique] && wall != kNoHeight && wall - floor - within > slack;
    const bool is_full = rules_.slack && (slack < 0 || (slack == 0 && count == 0));
    if (is_full || shallow) dead = clique;
  }
  count_change_[run.end] = 0;
  bytes_change_[run.end] = 0;
  return dead;
}

void ValleyState::append_candidates(Clique clique, std::vector<std::uint32_t>& out) const {
  const CliqueRange run = run_of(clique);
  const std::size_t before = out.size();
  const std::int64_t floor = height_[clique];
  const auto alike = [&](std::uint32_t a, std::uint32_t b) {
    const IntervalProblem::Buffer& first = problem_.buffers[a];
    const IntervalProblem::Buffer& second = problem_.buffers[b];
    return first.begin == second.begin && first.end == second.end && first.size == second.size &&
           first.alignment == second.alignment && first.padding == second.padding;
  };
  for (Clique begin = run.begin; begin <= clique; ++begin) {
    const std::size_t first_here = out.size();
    for (std::uint32_t buffer = first_[begin]; buffer != kNone; buffer = next_[buffer]) {
      const IntervalProblem::Buffer& self = problem_.buffers[buffer];
      if (self.end <= clique || self.end > run.end || (floor & (self.alignment - 1)) != 0) continue;
      const bool is_listed =
          rules_.interchangeable && std::any_of(out.begin() + static_cast<std::ptrdiff_t>(first_here), out.end(),
                                                [&](std::uint32_t other) { return alike(other, buffer); });
      if (!is_listed) out.push_back(buffer);
    }
  }
  LOWTIDE_CHECK(out.size() - before <= candidates_[clique], "a clique has as many candidates as were counted");
}

// rest_[s]: the highest clique between s and `clique`, both included. A buffer that lives in `clique` rests no lower
// than the larger of the values at its two ends.
void ValleyState::find_rests(Clique clique, CliqueRange part) {
  std::int64_t highest = height_[clique];
  for (Clique at = clique + 1; at-- > part.begin;) rest_[at] = highest = std::max(highest, height_[at]);
  highest = height_[clique];
  for (Clique at = clique; at < part.end; ++at) rest_[at] = highest = std::max(highest, height_[at]);
  work_ += part.end - part.begin;
}

// The lowest height that a buffer in `clique` can have if none of its candidates lies at the present one. Returns
// nullopt if no buffer can. Every buffer of a packing can be lowered until it rests on the ground or on another one, so
// an offset is an end, rounded up.
std::optional<std::int64_t> ValleyState::next_height(Clique clique, CliqueRange part) {
  const std::int64_t floor = height_[clique];
  std::int64_t lowest = kNoHeight;
  CliqueRange hull{clique, clique};  // of the candidates
  std::int64_t least_alignment = kNoHeight;
  find_rests(clique, part);
  for (Clique begin = part.begin; begin <= clique; ++begin) {
    for (std::uint32_t buffer = first_[begin]; buffer != kNone; buffer = next_[buffer]) {
      const IntervalProblem::Buffer& self = problem_.buffers[buffer];
      ++work_;
      if (self.end <= clique) continue;
      const std::int64_t offset = valley_rounded(std::max(rest_[begin], rest_[self.end - 1]), self.alignment);
      if (offset > floor) {
        lowest = std::min(lowest, offset);
      } else {
        hull = {std::min(hull.begin, begin), std::max(hull.end, self.end)};
        least_alignment = std::min(least_alignment, self.alignment);
      }
    }
  }
  // A candidate can lie higher only on top of a buffer that does not live in the clique.
  for (Clique begin = part.begin; begin < hull.end; ++begin) {
    for (std::uint32_t buffer = first_[begin]; buffer != kNone; buffer = next_[buffer]) {
      const IntervalProblem::Buffer& self = problem_.buffers[buffer];
      ++work_;
      if (self.end <= hull.begin || (begin <= clique && self.end > clique)) continue;
      const std::int64_t rest = std::max({height_[begin], height_[self.end - 1], floor});
      lowest = std::min(lowest, valley_rounded(rest + self.size, least_alignment));
    }
  }
  return lowest == kNoHeight ? std::nullopt : std::optional(lowest);
}

StateKey ValleyState::key_of(CliqueRange part) const {
  StateKey key{part.begin, part.end};
  for (Clique clique = part.begin; clique < part.end; ++clique) {
    key.low += height_key_[clique].low + set_key_[clique].low;
    key.high += height_key_[clique].high + set_key_[clique].high;
  }
  key = scattered(key.low, key.high);
  return {key.low, key.high | 1U};  // never the key of a free slot
}

}  // namespace lowtide::allocate_internal
