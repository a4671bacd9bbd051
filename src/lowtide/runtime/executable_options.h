// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include "lowtide/kernels/kernel.h"

namespace lowtide {

struct ExecutableOptions {
  // That a run may use: 1 or 2, as in the target of the plan. With 2, the executable has a thread of its own.
  int threads = 1;
  // Makes a kernel of the host, for an operator that this library does not run. It is asked before the kernels of the
  // library, for each step that computes a node without bodies, and returns nullptr if it has none. It may be asked
  // several times for a node. The kernel must not outlive what the function refers to. Its scratch is what the plan
  // reserves for the step.
  std::function<std::unique_ptr<PreparedKernel>(const PrepareInput& input)> own_kernel;
};

}  // namespace lowtide
