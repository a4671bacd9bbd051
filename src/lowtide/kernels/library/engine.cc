// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/library/engine.h"

#include "lowtide/base/check.h"
#include "lowtide/kernels/initialize.h"
#include "lowtide/kernels/library/dnnl.h"
#include "lowtide/kernels/library/quiet_heap.h"

// Of libgomp. Its header is not included, because clang has another one in its place.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int count);
}

namespace lowtide::kernels_internal {

SingleThread::SingleThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
SingleThread::~SingleThread() { omp_set_num_threads(before_); }

dnnl_engine_t library_engine() {
  static auto* const the_engine = [] {
    dnnl_engine_t engine = nullptr;
    const dnnl_status_t status = dnnl().engine_create(&engine, dnnl_cpu, 0);
    LOWTIDE_CHECK(status == dnnl_success, "the library has a CPU engine");
    install_quiet_heap();
    return engine;
  }();
  return the_engine;
}

}  // namespace lowtide::kernels_internal

namespace lowtide {

void initialize_kernels() {
  if (kernels_internal::find_dnnl() != nullptr) static_cast<void>(kernels_internal::library_engine());
}

void prepare_kernel_thread() { const kernels_internal::SingleThread single; }

LibraryMemory library_memory() {
  const kernels_internal::QuietCounts counts = kernels_internal::quiet_counts();
  return {.is_quiet = kernels_internal::is_quiet(),
          .from_pool = counts.from_pool,
          .from_heap = counts.from_heap,
          .most_bytes = counts.most_bytes};
}

}  // namespace lowtide
