// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "lowtide/base/random.h"
#include "lowtide/plan/packing.h"

namespace lowtide::testing {

// A plain buffer: half-open times, as in PackingBuffer.
struct Box {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t size;
};

[[nodiscard]] PackingProblem problem_of(std::initializer_list<Box> boxes);

// The same from (first, last, size) with the last moment included, as papers write it.
[[nodiscard]] PackingProblem problem_of_inclusive(std::initializer_list<Box> boxes);

// What a random problem may have.
struct Features {
  int most_buffers = 6;
  std::int64_t most_size = 16;
  int moments = 8;
  bool alignments = false;
  bool gaps = false;
  bool fixed = false;  // free of collisions: each fixed buffer starts where a stack of all earlier ones ends
  bool zero_sizes = false;
  bool extreme_times = false;  // the clock runs from -2^63 to 2^63 - 1
  bool relation = false;       // pairs in place of time
  bool together = false;
};
// Groups may contradict themselves or what is fixed.
[[nodiscard]] PackingProblem random_problem(Random& random, const Features& features);

// Drawn again until it is valid.
[[nodiscard]] PackingProblem random_valid_problem(Random& random, const Features& features);

// The activations of a network of `count` operators: most live until the next operator, some skip a few, few skip many.
[[nodiscard]] PackingProblem network_like_problem(std::size_t count, std::uint64_t seed);

// A rectangle cut into pieces, each cut through one piece: the load is `bytes` at every moment, and a packing without a
// single free byte exists.
struct Cut {
  std::int64_t moments = 200;
  std::int64_t bytes = 1000;
  std::size_t pieces = 120;
  unsigned gaps = 0;  // percent of the cuts that take the middle of a piece's time out of it, as a piece of its own
};
[[nodiscard]] PackingProblem cut_rectangle(std::uint64_t seed, const Cut& cut);

// Whether two buffers are active at the same time, straight from their spans.
[[nodiscard]] bool live_together(const PackingBuffer& a, const PackingBuffer& b);

// Whether two buffers must not share bytes: straight from times, pairs and groups.
[[nodiscard]] bool in_conflict(const PackingProblem& problem, PackingId a, PackingId b);

// What is wrong with the offsets, by looking at all pairs; empty if nothing. Says nothing of the capacity.
[[nodiscard]] std::string defect_of(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets);

// The same problem with a relation in place of time.
[[nodiscard]] PackingProblem without_time(PackingProblem problem);

// The least height there is, by trying all orders of placing at the lowest free offset. That reaches an optimum: take
// any packing and place again by ascending offset; nobody ends higher than before. For 7 buffers at most.
[[nodiscard]] std::int64_t least_height(const PackingProblem& problem);

// The same by trying every offset: slower, and right for groups too.
[[nodiscard]] std::int64_t least_height_of_all_offsets(const PackingProblem& problem);

// Largest sum of active sizes, at the times where some buffer or gap begins or ends.
[[nodiscard]] std::int64_t largest_load(const PackingProblem& problem);

}  // namespace lowtide::testing
