// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide {

// What kernels may do to the process of their program, beside taking memory (docs/embedding.md).
struct KernelProcess {
  // Loads oneDNN with dlopen() when its kernels are first asked for. If false, kernels and keys are those of a machine
  // without oneDNN. Has no effect once it has been asked for.
  bool loads_onednn = true;
  // A trial whether the parts of a kernel of oneDNN give the bits of the whole maps a file of 1 MiB in memory
  // (memfd_create) again and again. If false, it takes as much memory as the largest operand of the kernel has.
  bool makes_memory_files = true;
  // Replaces five entries of oneDNN's table of imports, so that its small objects of a run come from a pool of each
  // thread. Then no run calls malloc. The entries stay replaced.
  bool keeps_runs_off_heap = false;
};
// Sets it for the whole process. Call it before a model is opened. Thread-safe.
void set_kernel_process(const KernelProcess& options);

// Does what kernels of oneDNN need once per program: it loads oneDNN and makes its engine. prepare() of such
// a kernel does the same. An earlier call separates its memory from that of a model. Throws std::bad_alloc if the
// system has no memory for oneDNN. Thread-safe.
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
  // without oneDNN. False unless KernelProcess::keeps_runs_off_heap asks for it, and if its imports could not be
  // replaced, as in a version that links them statically.
  bool is_quiet = true;
  std::int64_t from_pool = 0;   // allocations
  std::int64_t from_heap = 0;   // allocations that did not fit into the pool
  std::int64_t most_bytes = 0;  // of the pool in one kernel
};
[[nodiscard]] OnednnMemory onednn_memory();

}  // namespace lowtide
