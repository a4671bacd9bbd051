// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/initialize.h"

namespace lowtide {

// What Lowtide may do to the process of its program, beside taking memory. docs/embedding.md lists all of it, and says
// what each option costs. Threads are not here: ExecutableOptions::system_threads counts them for each model.
struct ProcessOptions {
  KernelProcess kernels;
  // Installs a handler for SIGBUS, so that a model file that becomes shorter does not end the process
  // (catch_file_faults). The handler stays.
  bool catches_file_faults = false;
  // Gives the free memory of the heap back to the system after a model has been opened (malloc_trim), also what the
  // program itself has freed.
  bool trims_heap = true;
};

// Sets this for the whole process. Call it before a model is opened. Without a call, all options are as above.
// Thread-safe.
void configure_process(const ProcessOptions& options);

}  // namespace lowtide
