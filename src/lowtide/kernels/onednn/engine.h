// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <oneapi/dnnl/dnnl.h>

namespace lowtide::kernels_internal {

// oneDNN's CPU engine. The first call makes it, and installs the quiet heap (quiet_heap.h) if the program asked
// for this. Thread-safe.
[[nodiscard]] dnnl_engine_t onednn_engine();

// A stream of that engine, on which a thread runs one primitive after another. The caller destroys it.
[[nodiscard]] dnnl_stream_t new_stream();

// While it lives, oneDNN uses only the calling thread: primitives that are made have one share of work, and no
// parallel region starts. Lowtide's own threads run shares instead. The thread's setting is restored at the end,
// because it belongs to the host program. The first one of a thread allocates memory in libgomp.
class SingleThread {
 public:
  SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;
  ~SingleThread();

 private:
  int before_;
};

}  // namespace lowtide::kernels_internal
