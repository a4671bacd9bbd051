// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide {

// Does what kernels of oneDNN need once per program: it loads oneDNN, makes its engine, and keeps its small objects of
// a run out of malloc (OnednnMemory). prepare() of such a kernel does the same. A call before the first model keeps the
// memory of oneDNN apart from that of the model. Throws std::bad_alloc if the system has no memory for oneDNN.
// Thread-safe.
void initialize_kernels();

// Does what kernels need once per thread, for oneDNN only if it has been loaded. Otherwise the first kernel that a
// thread runs does it, and allocates memory.
void prepare_kernel_thread();

// Gives back what is kept only so that further kernels are made faster: oneDNN's cache of primitives, which has
// those of load-time work, and answers about primitives. Kernels that exist keep their primitives. Thread-safe.
void release_kernel_caches();

// What oneDNN allocated while kernels ran on the calling thread.
struct OnednnMemory {
  // Whether its allocations during a run are taken from a pool of 4 KiB per thread, so that none reaches malloc. True
  // without oneDNN. False if its imports could not be replaced, as in a version that links them statically.
  bool is_quiet = true;
  std::int64_t from_pool = 0;   // allocations
  std::int64_t from_heap = 0;   // allocations that did not fit into the pool
  std::int64_t most_bytes = 0;  // of the pool in one kernel
};
[[nodiscard]] OnednnMemory onednn_memory();

}  // namespace lowtide
