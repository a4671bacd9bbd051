// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/engine/engine.h"
#include "lowtide/runtime/session.h"
#include "lowtide/target/kernel_times.h"

namespace lowtide {

struct MeasureOptions {
  std::int64_t runs = 20;  // most runs of one plan, at least 1
  double seconds = 2;      // after which no further run of a plan begins; each plan has at least 3 runs, or `runs`
  // Binds all inputs of a session. What it binds must stay valid until the next call.
  std::function<Result<void>(Session&)> bind_inputs;
};

// Measures how long each kernel takes that a plan of this model may have on this machine: those of the graphs of
// lowerings_for_machine(), and all kernels that are offered for a node, not only the fastest. For this, the model is
// planned several times, once per graph and rank of kernels, and each plan runs in an arena of its own, so every kernel
// runs between the kernels that it would run between in use. Nodes of bodies count too. A node that a plan makes an
// alias has no time. `options`: as for open_model().
//
// Errors: those of open_model and of bind_inputs; (invalid) options with a budget or a plan, or a prepared file;
// (invalid) a run that fails, or that `options.plan.stop` ended.
[[nodiscard]] Result<KernelTimes> measure_kernels(const std::string& path, const OpenOptions& options,
                                                  const MeasureOptions& measure);

}  // namespace lowtide
