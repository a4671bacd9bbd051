// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/engine.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstddef>

#include "lowtide/base/check.h"
#include "lowtide/kernels/common/process_options.h"
#include "lowtide/kernels/initialize.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/handles.h"
#include "lowtide/kernels/onednn/onednn.h"
#include "lowtide/kernels/onednn/quiet_heap.h"

// Functions of libgomp. Its header is not included, because clang has another one in its place.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int count);
// This function of glibc returns the address of thread-local data of a library. The first call of a thread allocates
// them.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the name is that of glibc.
void* __tls_get_addr(std::array<std::size_t, 2>* module_and_offset);
}

namespace lowtide::kernels_internal {
namespace {

// Otherwise the first kernel of the thread makes the thread-local data of oneDNN.
void make_thread_data() {
  Dl_info place{};
  void* library = nullptr;
  std::array<std::size_t, 2> data = {0, 0};
  if (dladdr1(reinterpret_cast<void*>(dnnl().version), &place, &library, RTLD_DL_LINKMAP) == 0) return;
  if (dlinfo(library, RTLD_DI_TLS_MODID, data.data()) != 0 || data[0] == 0) return;
  static_cast<void>(__tls_get_addr(&data));
}

}  // namespace

SingleThread::SingleThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
SingleThread::~SingleThread() { omp_set_num_threads(before_); }

dnnl_engine_t onednn_engine() {
  static auto* const the_engine = [] {
    dnnl_engine_t engine = nullptr;
    const dnnl_status_t status = with_memory(dnnl().engine_create(&engine, dnnl_cpu, 0));
    LOWTIDE_CHECK(status == dnnl_success, "oneDNN has a CPU engine");
    if (keeps_runs_off_heap()) install_quiet_heap();
    return engine;
  }();
  return the_engine;
}

dnnl_stream_t new_stream() {
  dnnl_stream_t stream = nullptr;
  const dnnl_status_t made = dnnl().stream_create(&stream, onednn_engine(), dnnl_stream_in_order);
  LOWTIDE_CHECK(made == dnnl_success, "oneDNN makes streams on a CPU");
  return stream;
}

void quiet_loaded_onednn() {
  if (is_dnnl_loaded()) install_quiet_heap();
}

}  // namespace lowtide::kernels_internal

namespace lowtide {

void initialize_kernels() {
  if (kernels_internal::find_dnnl() != nullptr) static_cast<void>(kernels_internal::onednn_engine());
}

void prepare_kernel_thread() {
  if (!kernels_internal::is_dnnl_loaded()) return;
  const kernels_internal::SingleThread single;
  kernels_internal::touch_quiet_pool();
  kernels_internal::make_thread_data();
}

OnednnMemory onednn_memory() {
  const kernels_internal::QuietCounts counts = kernels_internal::quiet_counts();
  return {.is_quiet = kernels_internal::is_quiet(),
          .from_pool = counts.from_pool,
          .from_heap = counts.from_heap,
          .most_bytes = counts.most_bytes};
}

}  // namespace lowtide
