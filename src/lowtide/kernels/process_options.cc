// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/process_options.h"

#include <atomic>

#include "lowtide/kernels/initialize.h"
#include "lowtide/kernels/onednn/onednn.h"

namespace lowtide {
namespace {

struct SetOptions {
  std::atomic<bool> loads_onednn = KernelProcess().loads_onednn;
  std::atomic<bool> makes_memory_files = KernelProcess().makes_memory_files;
  std::atomic<bool> keeps_runs_off_heap = KernelProcess().keeps_runs_off_heap;
};
constinit SetOptions set_options{};

}  // namespace

namespace kernels_internal {

bool may_load_onednn() { return set_options.loads_onednn; }
bool may_make_memory_files() { return set_options.makes_memory_files; }
bool keeps_runs_off_heap() { return set_options.keeps_runs_off_heap; }

}  // namespace kernels_internal

void set_kernel_process(const KernelProcess& options) {
  set_options.loads_onednn = options.loads_onednn;
  set_options.makes_memory_files = options.makes_memory_files;
  set_options.keeps_runs_off_heap = options.keeps_runs_off_heap;
  if (options.keeps_runs_off_heap) kernels_internal::quiet_loaded_onednn();
}

}  // namespace lowtide
