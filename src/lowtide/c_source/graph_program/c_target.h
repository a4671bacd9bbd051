// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/target/target.h"

namespace lowtide::graph_program_internal {

// A machine with one region, on which the kernels of C run. They need no scratch, and overwrite the operands that the
// target `dense` would, where a node is one call (may_work_in_place).
[[nodiscard]] Target c_target();

}  // namespace lowtide::graph_program_internal
