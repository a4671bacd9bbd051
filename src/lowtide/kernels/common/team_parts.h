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

// Calls part(begin, end) for ranges that together are [0, count): one per thread of the team, or one if the kernel has
// few operations. Parts run side by side, so no part may write what another one reads or writes. For equal bits, a
// part computes an element in the same way wherever its range begins. Returns a code of a part that is not ok, if there
// is one. `part` does not throw.
template <typename Part>
RunCode run_in_parts(Team& team, std::int64_t count, std::int64_t operations, const Part& part) {
  const std::int64_t threads = team.threads();
  if (threads == 1 || count < threads || operations < kLeastSharedOperations) return part(0, count);
  struct Parts {
    const Part& part;
    std::int64_t count = 0;
    std::int64_t threads = 1;
    std::atomic<RunCode> code = RunCode::ok;
  };
  Parts parts{part, count, threads};
  team.run(
      [](void* context, int thread) noexcept {
        Parts& all = *static_cast<Parts*>(context);
        const std::int64_t size = all.count / all.threads;
        const std::int64_t begin = thread * size;
        const std::int64_t end = thread + 1 == all.threads ? all.count : begin + size;
        const RunCode code = all.part(begin, end);
        if (code != RunCode::ok) all.code.store(code, std::memory_order_relaxed);
      },
      &parts);
  return parts.code.load(std::memory_order_relaxed);
}

}  // namespace lowtide::kernels_internal
