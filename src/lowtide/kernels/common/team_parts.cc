// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/team_parts.h"

#include <atomic>

namespace lowtide::kernels_internal {

RunCode run_shares_by(Team& team, int shares, ShareFunction function, const void* run) {
  if (shares == 1) return function(run, 0);
  struct Shares {
    ShareFunction function;
    const void* run;
    int shares = 1;
    int threads = 1;
    std::atomic<RunCode> code = RunCode::ok;
  };
  Shares all{function, run, shares, team.threads()};
  team.run(
      [](void* context, int thread) noexcept {
        Shares& of = *static_cast<Shares*>(context);
        for (int share = thread; share < of.shares; share += of.threads) {
          const RunCode code = of.function(of.run, share);
          if (code != RunCode::ok) of.code.store(code, std::memory_order_relaxed);
        }
      },
      &all);
  return all.code.load(std::memory_order_relaxed);
}

RunCode run_in_parts_by(Team& team, std::int64_t count, std::int64_t operations, PartFunction function,
                        const void* part) {
  const int shares = threads_with_work(team.threads(), count, static_cast<double>(operations));
  if (shares == 1) return function(part, 0, count);
  return run_shares(team, shares, [&](int share) {
    const std::int64_t size = count / shares;
    const std::int64_t wide = count % shares;  // as many parts have one element more
    const std::int64_t begin = share * size + std::min<std::int64_t>(share, wide);
    return function(part, begin, begin + size + (share < wide ? 1 : 0));
  });
}

}  // namespace lowtide::kernels_internal
