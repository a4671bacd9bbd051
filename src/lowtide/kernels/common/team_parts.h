// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/team.h"

namespace lowtide::kernels_internal {

// Below this many operations, a second thread costs more than it saves: a share begins after about a microsecond.
inline constexpr std::int64_t kLeastSharedOperations = 1 << 15;

// Calls run(share) for each share in [0, shares), on the threads of the team. Shares run side by side, so none may
// write what another one reads or writes. The team may have another number of threads than there are shares. Returns a
// code of a share that is not ok, if there is one. `run` does not throw.
template <typename Run>
RunCode run_shares(Team& team, int shares, const Run& run) {
  if (shares == 1) return run(0);
  struct Shares {
    const Run& run;
    int shares = 1;
    int threads = 1;
    std::atomic<RunCode> code = RunCode::ok;
  };
  Shares all{run, shares, team.threads()};
  team.run(
      [](void* context, int thread) noexcept {
        Shares& of = *static_cast<Shares*>(context);
        for (int share = thread; share < of.shares; share += of.threads) {
          const RunCode code = of.run(share);
          if (code != RunCode::ok) of.code.store(code, std::memory_order_relaxed);
        }
      },
      &all);
  return all.code.load(std::memory_order_relaxed);
}

// Calls part(begin, end) for ranges that together are [0, count): one per thread of the team, or one if the kernel has
// few operations. For equal bits, a part computes an element in the same way wherever its range begins. Otherwise as
// run_shares().
template <typename Part>
RunCode run_in_parts(Team& team, std::int64_t count, std::int64_t operations, const Part& part) {
  const std::int64_t threads = team.threads();
  if (threads == 1 || count < threads || operations < kLeastSharedOperations) return part(0, count);
  return run_shares(team, team.threads(), [&](int share) {
    const std::int64_t size = count / threads;
    const std::int64_t begin = share * size;
    return part(begin, share + 1 == threads ? count : begin + size);
  });
}

}  // namespace lowtide::kernels_internal
