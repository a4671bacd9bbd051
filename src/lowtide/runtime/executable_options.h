// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "lowtide/kernels/kernel.h"

namespace lowtide {

struct ExecutableOptions {
  // Threads of a run, as in the target of the plan: 1 to limits::kMaxTeamThreads. The work of a large kernel is
  // divided into as many shares.
  int threads = 1;
  // How many threads of the system run these shares, with the one that calls Session::run(). The executable starts the
  // others; with 1 it starts none. nullopt: `threads`, but no more than the processors that the calling thread may use.
  // Copies over links may then have a thread beside kernels on one. The results do not depend on this number.
  std::optional<int> system_threads = std::nullopt;
  // Makes a kernel of the host, for an operator that this library does not run. It is asked before the kernels of the
  // library, for each step that computes a node without bodies, and returns nullptr if it has none. It may be asked
  // several times for a node. The kernel must not outlive what the function refers to. Its scratch is what the plan
  // reserves for the step.
  std::function<std::unique_ptr<PreparedKernel>(const PrepareInput& input)> own_kernel;
};

}  // namespace lowtide
