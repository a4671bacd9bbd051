// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/allocate/problems.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "lowtide/allocate/problem/validate.h"
#include "lowtide/base/flags.h"

namespace lowtide::testing {
namespace {

// Independent of for_each_active_span, which it helps to check.
std::vector<TimeSpan> active_spans(const PackingBuffer& buffer) {
  std::vector<TimeSpan> spans;
  std::int64_t from = buffer.lifespan.begin;
  for (const TimeSpan& gap : buffer.gaps) {
    if (from < gap.begin) spans.push_back({from, gap.begin});
    from = gap.end;
  }
  if (from < buffer.lifespan.end) spans.push_back({from, buffer.lifespan.end});
  return spans;
}

bool collide(const PackingProblem& problem, PackingId a, std::int64_t a_offset, PackingId b, std::int64_t b_offset) {
  const Bytes a_size = problem.buffers[a].size;
  const Bytes b_size = problem.buffers[b].size;
  return a_offset < b_offset + b_size.count() && b_offset < a_offset + a_size.count() && a_size > Bytes(0) &&
         b_size > Bytes(0) && in_conflict(problem, a, b);
}

// Buffers that colocations join, directly or through others, have the same number.
IdVector<PackingId, std::size_t> group_numbers(const PackingProblem& problem) {
  IdVector<PackingId, std::size_t> number(problem.buffers.size());
  for (PackingId id : all_ids<PackingId>(number.size())) number[id] = id.index();
  for (bool changed = true; changed;) {
    changed = false;
    for (const PackingColocation& pair : problem.colocations) {
      const std::size_t least = std::min(number[pair.first], number[pair.second]);
      changed = changed || number[pair.first] != number[pair.second];
      number[pair.first] = number[pair.second] = least;
    }
  }
  return number;
}

void add_random_pairs(Random& random, const Features& features, PackingProblem& problem) {
  if (features.relation) problem.conflicts.emplace();
  const auto density = static_cast<unsigned>(random.between(20, 90));
  for (PackingId b : all_ids<PackingId>(problem.buffers.size())) {
    for (PackingId a : all_ids<PackingId>(b.index())) {
      if (features.relation && random.chance(density)) problem.conflicts->push_back({a, b});
    }
    if (!features.colocations || b.index() == 0 || !random.chance(40)) continue;
    PackingId other(static_cast<std::uint32_t>(random.below(b.index())));
    PackingId lower = random.chance(50) ? b : other;
    const PackingId upper = lower == b ? other : b;
    const std::int64_t delta = random.chance(30) ? 0 : random.between(0, problem.buffers[lower].size.count());
    problem.colocations.push_back({lower, upper, Bytes(delta)});
  }
}

CompactVector<TimeSpan> random_gaps(Random& random, std::int64_t begin, std::int64_t end) {
  std::set<std::int64_t> drawn;
  for (int cut = 0; cut < 4; ++cut) drawn.insert(random.between(begin, end));
  const std::vector<std::int64_t> cuts(drawn.begin(), drawn.end());
  CompactVector<TimeSpan> gaps;
  for (std::size_t at = 0; at + 1 < cuts.size(); at += 2) gaps.push_back({cuts[at], cuts[at + 1]});
  return gaps;
}

// Moment 0 becomes the first time of a 64-bit clock, and moment `moments` the last one.
void stretch_to_extremes(PackingBuffer& buffer, int moments) {
  const auto stretched = [&](std::int64_t moment) {
    if (moment == 0) return std::numeric_limits<std::int64_t>::min();
    if (moment == moments) return std::numeric_limits<std::int64_t>::max();
    return (moment - moments / 2) * (std::numeric_limits<std::int64_t>::max() / moments);
  };
  const auto stretch = [&](TimeSpan& span) { span = {stretched(span.begin), stretched(span.end)}; };
  stretch(buffer.lifespan);
  std::for_each(buffer.gaps.begin(), buffer.gaps.end(), stretch);
}

}  // namespace

PackingProblem problem_of(std::initializer_list<Box> boxes) {
  PackingProblem problem;
  for (const Box& box : boxes) {
    problem.buffers.push_back({.lifespan = {box.begin, box.end}, .gaps = {}, .size = Bytes(box.size)});
  }
  return problem;
}

PackingProblem problem_of_inclusive(std::initializer_list<Box> boxes) {
  PackingProblem problem = problem_of(boxes);
  for (PackingBuffer& buffer : problem.buffers) ++buffer.lifespan.end;
  return problem;
}

PackingProblem random_problem(Random& random, const Features& features) {
  PackingProblem problem;
  const std::int64_t count = random.between(1, features.most_buffers);
  std::int64_t fixed_stack = 0;
  for (std::int64_t at = 0; at < count; ++at) {
    PackingBuffer buffer;
    buffer.lifespan.begin = random.between(0, features.moments - 1);
    buffer.lifespan.end = random.between(buffer.lifespan.begin + 1, features.moments);
    buffer.size = Bytes(random.between(features.zero_sizes ? 0 : 1, features.most_size));
    if (features.alignments && random.chance(60)) buffer.alignment = Bytes(std::int64_t{1} << random.below(5));
    if (features.gaps && random.chance(50)) {
      buffer.gaps = random_gaps(random, buffer.lifespan.begin, buffer.lifespan.end);
    }
    if (features.fixed && random.chance(25)) {
      buffer.fixed_offset = round_up(Offset(fixed_stack + random.between(0, features.most_size)), buffer.alignment);
      fixed_stack = (*buffer.fixed_offset + buffer.size).position();
    }
    if (features.extreme_times) stretch_to_extremes(buffer, features.moments);
    problem.buffers.push_back(buffer);
  }
  add_random_pairs(random, features, problem);
  return problem;
}

PackingProblem random_valid_problem(Random& random, const Features& features) {
  while (true) {
    PackingProblem problem = random_problem(random, features);
    if (allocate_internal::validate_packing_problem(problem).ok()) return problem;
  }
}

PackingProblem network_like_problem(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  PackingProblem problem;
  for (std::size_t at = 0; at < count; ++at) {
    const std::int64_t begin = static_cast<std::int64_t>(at);
    std::int64_t length = 2;
    if (random.chance(20)) length = random.between(3, 8);
    if (random.chance(2)) length = random.between(20, 200);
    problem.buffers.push_back({.lifespan = {begin, begin + length},
                               .gaps = {},
                               .size = Bytes(random.between(1, 64) << random.below(14)),
                               .alignment = Bytes(64)});
  }
  return problem;
}

PackingProblem cut_rectangle(std::uint64_t seed, const Cut& cut) {
  struct Rectangle {
    TimeSpan time;
    Interval<std::int64_t> bytes;
    CompactVector<TimeSpan> gaps;  // a rectangle with gaps is never cut in time
  };
  Random random(seed);
  std::vector<Rectangle> all = {{{0, cut.moments}, {0, cut.bytes}, {}}};
  while (all.size() < cut.buffers) {
    Rectangle& one = all[random.below(all.size())];
    const std::int64_t length = one.gaps.empty() ? one.time.end - one.time.begin : 0;
    Rectangle rest = one;
    if (cut.gaps > 0 && random.chance(cut.gaps) && length > 2) {
      rest.time.begin = random.between(one.time.begin + 1, one.time.end - 2);
      rest.time.end = random.between(rest.time.begin + 1, one.time.end - 1);
      one.gaps = {rest.time};
    } else if (random.chance(50) && length > 1) {
      one.time.end = rest.time.begin = random.between(one.time.begin + 1, one.time.end - 1);
    } else if (one.bytes.end - one.bytes.begin > 1) {
      one.bytes.end = rest.bytes.begin = random.between(one.bytes.begin + 1, one.bytes.end - 1);
    } else {
      continue;
    }
    all.push_back(rest);
  }
  PackingProblem problem;
  for (const Rectangle& one : all) {
    problem.buffers.push_back({.lifespan = one.time, .gaps = one.gaps, .size = Bytes(one.bytes.end - one.bytes.begin)});
  }
  return problem;
}

PackingProblem without_time(PackingProblem problem) {
  problem.conflicts.emplace();
  for (PackingId b : all_ids<PackingId>(problem.buffers.size())) {
    for (PackingId a : all_ids<PackingId>(b.index())) {
      if (live_together(problem.buffers[a], problem.buffers[b])) problem.conflicts->push_back({a, b});
    }
  }
  for (PackingBuffer& buffer : problem.buffers) {
    buffer.lifespan = {};
    buffer.gaps.clear();
  }
  return problem;
}

bool live_together(const PackingBuffer& a, const PackingBuffer& b) {
  for (const TimeSpan& of_a : active_spans(a)) {
    for (const TimeSpan& of_b : active_spans(b)) {
      if (of_a.begin < of_b.end && of_b.begin < of_a.end) return true;
    }
  }
  return false;
}

bool in_conflict(const PackingProblem& problem, PackingId a, PackingId b) {
  if (!problem.colocations.empty()) {
    const IdVector<PackingId, std::size_t> group = group_numbers(problem);
    if (group[a] == group[b]) return false;
  }
  if (!problem.conflicts) return live_together(problem.buffers[a], problem.buffers[b]);
  return std::any_of(problem.conflicts->begin(), problem.conflicts->end(), [&](const PackingPair& pair) {
    return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
  });
}

std::string defect_of(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets) {
  if (offsets.size() != problem.buffers.size()) return "not one offset per buffer";
  for (PackingId a : all_ids<PackingId>(offsets.size())) {
    const std::string name = "buffer " + std::to_string(a.value());
    const PackingBuffer& buffer = problem.buffers[a];
    if (offsets[a] < Offset(0)) return name + " is below 0";
    if (offsets[a].position() % buffer.alignment.count() != 0) return name + " is misaligned";
    if (buffer.fixed_offset && *buffer.fixed_offset != offsets[a]) return name + " is not where it is fixed";
    for (PackingId b : all_ids<PackingId>(a.index())) {
      if (collide(problem, a, offsets[a].position(), b, offsets[b].position())) {
        return name + " collides with " + std::to_string(b.value());
      }
    }
  }
  for (const PackingColocation& pair : problem.colocations) {
    if (offsets[pair.second] == offsets[pair.first] + pair.delta) continue;
    return "buffer " + std::to_string(pair.second.value()) + " is not where its group puts it";
  }
  return "";
}

std::string defect_of(const PackingProblem& problem, const allocate_internal::Placements& placements) {
  IdVector<PackingId, Offset> offsets;
  for (std::int64_t offset : placements.offsets) offsets.push_back(Offset(offset));
  return defect_of(problem, offsets);
}

std::int64_t least_height(const PackingProblem& problem) {
  std::vector<PackingId> order;
  std::vector<PackingId> fixed;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    (problem.buffers[id].fixed_offset ? fixed : order).push_back(id);
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  do {
    std::vector<PackingId> assigned = fixed;
    IdVector<PackingId, std::int64_t> offsets(problem.buffers.size(), 0);
    std::int64_t height = 0;
    for (PackingId id : fixed) {
      offsets[id] = problem.buffers[id].fixed_offset->position();
      height = std::max(height, offsets[id] + problem.buffers[id].size.count());
    }
    for (PackingId id : order) {
      const PackingBuffer& buffer = problem.buffers[id];
      std::set<std::int64_t> candidates = {0};
      for (PackingId other : assigned) {
        const std::int64_t end = offsets[other] + problem.buffers[other].size.count();
        candidates.insert((end + buffer.alignment.count() - 1) / buffer.alignment.count() * buffer.alignment.count());
      }
      const auto is_free = [&](std::int64_t offset) {
        return std::none_of(assigned.begin(), assigned.end(),
                            [&](PackingId other) { return collide(problem, id, offset, other, offsets[other]); });
      };
      offsets[id] = *std::find_if(candidates.begin(), candidates.end(), is_free);
      height = std::max(height, offsets[id] + buffer.size.count());
      assigned.push_back(id);
    }
    least = std::min(least, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

std::int64_t least_height_of_all_offsets(const PackingProblem& problem) {
  const std::size_t count = problem.buffers.size();
  IdVector<PackingId, std::int64_t> offsets(count, 0);
  IdVector<PackingId, Flags<PackingId>> conflicts(count, Flags<PackingId>(count));
  for (PackingId a : all_ids<PackingId>(count)) {
    for (PackingId b : all_ids<PackingId>(count)) {
      if (a != b && in_conflict(problem, a, b)) conflicts[a].set(b);
    }
  }
  const auto suits = [&](PackingId id, std::int64_t height) {
    const PackingBuffer& buffer = problem.buffers[id];
    const std::int64_t begin = offsets[id];
    const std::int64_t end = begin + buffer.size.count();
    if (begin < 0 || end > height || begin % buffer.alignment.count() != 0) return false;
    if (buffer.fixed_offset && buffer.fixed_offset->position() != begin) return false;
    for (PackingId other : all_ids<PackingId>(id.index())) {
      if (!conflicts[id].test(other) || buffer.size == Bytes(0)) continue;
      const std::int64_t other_size = problem.buffers[other].size.count();
      if (other_size > 0 && begin < offsets[other] + other_size && offsets[other] < end) return false;
    }
    for (const PackingColocation& pair : problem.colocations) {
      if (std::max(pair.first, pair.second) != id) continue;
      if (offsets[pair.second] - offsets[pair.first] != pair.delta.count()) return false;
    }
    return true;
  };
  const std::function<bool(std::uint32_t, std::int64_t)> assign = [&](std::uint32_t at, std::int64_t height) {
    if (at == count) return true;
    const PackingId id(at);
    for (offsets[id] = 0; offsets[id] + problem.buffers[id].size.count() <= height; ++offsets[id]) {
      if (suits(id, height) && assign(at + 1, height)) return true;
    }
    return false;
  };
  std::int64_t height = 0;
  while (!assign(0, height)) ++height;
  return height;
}

std::int64_t largest_load(const PackingProblem& problem) {
  std::set<std::int64_t> times;
  for (const PackingBuffer& buffer : problem.buffers) {
    for (const TimeSpan& span : active_spans(buffer)) times.insert(span.begin);
  }
  std::int64_t largest = 0;
  for (std::int64_t time : times) {
    std::int64_t load = 0;
    for (const PackingBuffer& buffer : problem.buffers) {
      for (const TimeSpan& span : active_spans(buffer)) load += span.contains(time) ? buffer.size.count() : 0;
    }
    largest = std::max(largest, load);
  }
  return largest;
}

}  // namespace lowtide::testing
