// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/target/target.h"

namespace lowtide::graph_program_internal {

// Offsets in the arena of C programs are multiples of this, except for parts of a buffer.
inline constexpr std::int64_t kArenaAlignment = 16;

// A machine with one region, on which the kernels of C run. They need no scratch, and overwrite the operands that the
// target `dense` would, where a node is one call (may_work_in_place).
[[nodiscard]] Target c_target();

}  // namespace lowtide::graph_program_internal
