// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

struct AllocateOptions {
  // Units of work after which no further strategy starts, and the present one is abandoned. The first strategy always
  // ends. Work is counted, not timed, so that the answer is the same on every machine. A unit is one pair of buffers
  // looked at and takes 10 to 30 ns. Most networks need a millionth of the default. More effort never gives a higher
  // answer: it continues where less effort would have stopped.
  std::int64_t effort = 200'000'000;

  // Threads that may run at the same time. The answer is the same with any number. 1 starts none.
  int threads = 1;

  // Called from the calling thread with every answer that is lower than the one before. The last call has the answer
  // that is returned, except for what a search proves about it afterwards. Must not throw. Each call copies all
  // offsets.
  std::function<void(const Packing&)> on_improvement;

  // Once it is true, the best answer so far is returned, but not before the first strategy has ended. Checked every few
  // milliseconds. Another thread or a signal handler may set it. Null: nothing interrupts.
  const std::atomic<bool>* stop = nullptr;
};

// Gives every buffer an offset, such that two buffers in conflict share no byte. Without a capacity it finds the lowest
// height that the effort allows; with one, the first offsets that fit.
//
//   PackingProblem problem;
//   problem.buffers.push_back({.lifespan = {0, 2}, .size = Bytes(60)});  // a     100 |    +-----------+
//   problem.buffers.push_back({.lifespan = {1, 4}, .size = Bytes(40)});  // b         |    |     b     |
//   problem.buffers.push_back({.lifespan = {2, 4}, .size = Bytes(60)});  // c      60 +----+---+-------+
//   const Result<Packing> packing = allocate(problem);                   //           |   a    |   c   |
//   // offsets 0, 60, 0; height 100, which is the load: proven_optimal              0 +--------+-------+
//                                                                                     0    1   2   3   4  time
//
// How: a first strategy that answers for problems of any size, then a table of strategies that run in phases with
// doubling effort (strategies/table.cc), until the capacity holds everything or the height reaches the bound, up to the
// smallest alignment. docs/algorithms/packing.md explains each of them, with figures.
//
// The bound is the largest load, with sizes rounded up as far as alignments prove. `witness_time` is a moment that
// shows it. If a relation replaces time, it is the heaviest clique, and `witness_buffers` are its members. Groups count
// with the bytes that at least one member holds. If a search refutes a height, the bound rises above it.
//
// Deterministic: the same problem and effort give the same answer, with any number of threads.
// Errors: invalid, for a buffer that is not as PackingBuffer says, for fixed offsets that are below 0, misaligned or
// collide, and for groups that contradict themselves or what is fixed; over_limit, for sizes and padding that add up to
// more than limits::kMaxTotalBytes. Messages name the buffers.
[[nodiscard]] Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options = {});

}  // namespace lowtide
