// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "lowtide/allocate/problem/placements.h"
#include "lowtide/base/random.h"
#include "lowtide/plan/packing.h"

namespace lowtide::testing {

// A buffer without gaps. Times are half-open, as in PackingBuffer.
struct Box {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t size;
};

[[nodiscard]] PackingProblem problem_of(std::initializer_list<Box> boxes);

// The same from (first, last, size), where the last moment is included, as in papers.
[[nodiscard]] PackingProblem problem_of_inclusive(std::initializer_list<Box> boxes);

// The features that a random problem may have.
struct Features {
  int most_buffers = 6;
  std::int64_t most_size = 16;
  int moments = 8;
  bool alignments = false;
  bool gaps = false;
  bool fixed = false;  // without collisions: each fixed buffer starts above a stack of all earlier ones
  bool zero_sizes = false;
  bool extreme_times = false;  // the clock runs from -2^63 to 2^63 - 1
  bool relation = false;       // replaces time
  bool colocations = false;
};
// Colocations may contradict each other or the fixed offsets.
[[nodiscard]] PackingProblem random_problem(Random& random, const Features& features);

// A random problem that validate_packing_problem accepts.
[[nodiscard]] PackingProblem random_valid_problem(Random& random, const Features& features);

// The activations of a network with `count` operators. Most of them live until the next operator, some until a few
// later, and a few until many later.
[[nodiscard]] PackingProblem network_like_problem(std::size_t count, std::uint64_t seed);

// A rectangle that is cut into buffers, each time by a cut through one of them. The load is `bytes` at every moment,
// and a packing without a free byte exists.
struct Cut {
  std::int64_t moments = 200;
  std::int64_t bytes = 1000;
  std::size_t buffers = 120;
  unsigned gaps = 0;  // percent of the cuts that make the middle of a buffer's time a gap, which a new buffer fills
};
[[nodiscard]] PackingProblem cut_rectangle(std::uint64_t seed, const Cut& cut);

// Whether two buffers are active at the same time, computed from their spans.
[[nodiscard]] bool live_together(const PackingBuffer& a, const PackingBuffer& b);

// Whether two buffers must not share bytes, computed from times, conflicts and colocations.
[[nodiscard]] bool in_conflict(const PackingProblem& problem, PackingId a, PackingId b);

// Says what is wrong with the offsets, by looking at all pairs. Empty if nothing is. Ignores the capacity.
[[nodiscard]] std::string defect_of(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets);
[[nodiscard]] std::string defect_of(const PackingProblem& problem, const allocate_internal::Placements& placements);

// The same problem with a relation that replaces time.
[[nodiscard]] PackingProblem without_time(PackingProblem problem);

// The least height, by trying all orders of assigning the lowest free offset. One of them is optimal: if the buffers of
// a packing are assigned again by ascending offset, no buffer ends higher than before. For at most 7 buffers, without
// colocations.
[[nodiscard]] std::int64_t least_height(const PackingProblem& problem);

// The least height, by trying every offset. It is slower, and also works with colocations.
[[nodiscard]] std::int64_t least_height_of_all_offsets(const PackingProblem& problem);

// The largest sum of active sizes, over the times at which an active span begins.
[[nodiscard]] std::int64_t largest_load(const PackingProblem& problem);

}  // namespace lowtide::testing
