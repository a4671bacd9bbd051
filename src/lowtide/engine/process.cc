// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/process.h"

#include <atomic>

#include "lowtide/engine/open_sharing.h"
#include "lowtide/weights/file_faults.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lowtide {
namespace {

constinit std::atomic<bool> trims_heap = ProcessOptions().trims_heap;

}  // namespace

void configure_process(const ProcessOptions& options) {
  set_kernel_process(options.kernels);
  if (options.catches_file_faults) catch_file_faults();
  trims_heap = options.trims_heap;
}

namespace engine_internal {

void give_back_heap() {
#ifdef __GLIBC__
  if (trims_heap) malloc_trim(0);
#endif
}

}  // namespace engine_internal

}  // namespace lowtide
