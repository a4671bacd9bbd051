// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

#include "lowtide/kernels/common/tuning.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/team.h"

namespace lowtide::kernels_internal {

// How many of `threads` have enough to do: at most one per unit of work. Fewer operations than `least` are for one
// thread.
[[nodiscard]] inline int threads_with_work(int threads, std::int64_t units, double operations,
                                           std::int64_t least = kLeastSharedOperations) {
  if (operations < static_cast<double>(least)) return 1;
  const double most = 2 * operations / static_cast<double>(least);
  const double fewest = std::min({static_cast<double>(threads), static_cast<double>(units), most});
  return std::max(static_cast<int>(fewest), 1);
}

// Makes the objects of the threads of a kernel behind its bound object, in the bytes of PreparedKernel::bound_bytes().
template <typename Thread, typename Bound>
std::span<Thread> threads_after(Bound* bound, int threads) {
  static_assert(sizeof(Bound) % alignof(Thread) == 0 && std::is_trivially_destructible_v<Thread>);
  auto* const first = reinterpret_cast<Thread*>(reinterpret_cast<std::byte*>(bound) + sizeof(Bound));
  for (int thread = 0; thread < threads; ++thread) new (first + thread) Thread;
  return {first, static_cast<std::size_t>(threads)};
}

// A function of a share or of a range, which is called through a pointer. So each kernel compiles its loop once, and
// not a second time for the threads of a team.
using ShareFunction = RunCode (*)(const void* run, int share);
using PartFunction = RunCode (*)(const void* part, std::int64_t begin, std::int64_t end);

[[nodiscard]] RunCode run_shares_by(Team& team, int shares, ShareFunction function, const void* run);
[[nodiscard]] RunCode run_in_parts_by(Team& team, std::int64_t count, std::int64_t operations, PartFunction function,
                                      const void* part);

// Calls run(share) for each share in [0, shares), on the threads of the team. Shares run side by side, so none may
// write what another one reads or writes. The team may have another number of threads than there are shares. Returns a
// code of a share that is not ok, if there is one. `run` does not throw.
template <typename Run>
RunCode run_shares(Team& team, int shares, const Run& run) {
  return run_shares_by(
      team, shares, [](const void* of, int share) { return (*static_cast<const Run*>(of))(share); }, &run);
}

// Calls part(begin, end) for ranges that together are [0, count): one per thread of the team that has enough to do. For
// equal bits, a part computes an element in the same way wherever its range begins. Otherwise as
// run_shares().
template <typename Part>
RunCode run_in_parts(Team& team, std::int64_t count, std::int64_t operations, const Part& part) {
  return run_in_parts_by(
      team, count, operations,
      [](const void* of, std::int64_t begin, std::int64_t end) { return (*static_cast<const Part*>(of))(begin, end); },
      &part);
}

}  // namespace lowtide::kernels_internal
