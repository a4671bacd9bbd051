// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide::kernels_internal {

// Keeps oneDNN from calling malloc during a run, if the program asks for it (KernelProcess::keeps_runs_off_heap).
// Each execution of a primitive allocates 5 to 9 small objects, of less than 600 bytes together (oneDNN 3.2), and frees
// them before it returns.
//
// oneDNN imports five functions for this purpose: malloc, free, posix_memalign, operator new and operator delete.
// This file replaces them by changing oneDNN's table of imports (the global offset table). No other code of the
// program sees the change. While a QuietScope is open, the replacements take memory from a pool of the thread. Without
// a scope, or if the pool is full, they call the originals.

// Replaces the imports. Further calls do nothing. Thread-safe.
void install_quiet_heap();

// Whether all five imports were found and replaced. If not, for example in another version of oneDNN, oneDNN
// works as usual and allocates during runs.
[[nodiscard]] bool is_quiet();

// Touches the pool of the calling thread, so that its first scope has no page faults.
void touch_quiet_pool();

// What oneDNN allocated in the scopes of the calling thread.
struct QuietCounts {
  std::int64_t from_pool = 0;   // calls that the pool satisfied
  std::int64_t from_heap = 0;   // calls that went to the originals, because the pool was full
  std::int64_t most_bytes = 0;  // of the pool in one scope
  std::int64_t kept = 0;        // objects of the pool that still existed when their scope ended
};
[[nodiscard]] QuietCounts quiet_counts();

// Scopes do not nest. An object that outlives its scope keeps its bytes of the pool until it is freed by its thread.
class QuietScope {
 public:
  QuietScope();
  QuietScope(const QuietScope&) = delete;
  QuietScope& operator=(const QuietScope&) = delete;
  ~QuietScope();
};

}  // namespace lowtide::kernels_internal
