// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/plan/machine.h"

namespace lowtide::pipeline_internal {

// Kernels and copies run on the first worker, and everything that they touch is in regions that it can address.
inline constexpr WorkerId kWorker = WorkerId(0);

}  // namespace lowtide::pipeline_internal
