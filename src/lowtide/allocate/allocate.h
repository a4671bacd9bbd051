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
  // Units of work after which the best answer so far is returned. Work is counted and not timed, so the answer is the
  // same on every machine. A unit is one pair of buffers that is examined, and takes 10 to 30 ns. More effort never
  // gives a larger height. Most networks need a millionth of the default. The first answer is found with any effort.
  std::int64_t effort = 200'000'000;

  // Threads that may run at the same time. The answer is the same with any number. With 1, no thread is started.
  int threads = 1;

  // Called on the calling thread with each answer whose height is below that of the one before. The last call has the
  // returned offsets, but later searches may still prove a higher bound. Each call copies all offsets. Must not throw.
  std::function<void(const Packing&)> on_improvement;

  // When it becomes true, the best answer so far is returned after a few milliseconds, but not before the first answer.
  // Another thread or a signal handler may set it. nullptr: allocation never stops early.
  const std::atomic<bool>* stop = nullptr;
};

// Gives every buffer an offset, such that two buffers in conflict share no byte. Finds the lowest height that the
// effort allows, or with a capacity the first offsets that fit.
//
//   PackingProblem problem;
//   problem.buffers.push_back({.lifespan = {0, 2}, .size = Bytes(60)});  // a     100 |    +-----------+
//   problem.buffers.push_back({.lifespan = {1, 4}, .size = Bytes(40)});  // b         |    |     b     |
//   problem.buffers.push_back({.lifespan = {2, 4}, .size = Bytes(60)});  // c      60 +----+---+-------+
//   const Result<Packing> packing = allocate(problem);                   //           |   a    |   c   |
//   // offsets 0, 60, 0; height 100 = bound: proven optimal                         0 +--------+-------+
//                                                                                     0    1   2   3   4  time
//
// Returns: the offsets, their height, a proven lower bound of the height, and what proves it (Packing explains each
// field). A capacity that is too small is not an error: the outcome is `infeasible` if that is proven, otherwise
// `not_found`.
//
// Errors: invalid, for a problem that packing.h does not allow, such as fixed offsets that collide; over_limit, for
// sizes that add up to more than limits::kMaxTotalBytes. Messages name the buffers.
//
// Deterministic: the same problem and effort give the same answer. The first answer takes nearly linear time. Then the
// strategies of docs/algorithms/packing.md take turns until the bound, the capacity or the effort is reached.
[[nodiscard]] Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options = {});

}  // namespace lowtide
