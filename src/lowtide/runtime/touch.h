// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/runtime/arena.h"
#include "lowtide/runtime/executable.h"
#include "lowtide/runtime/execute/session_memory.h"

namespace lowtide::runtime_internal {

// Makes all memory of a run present, and runs each kernel once: SessionOptions::touch. Afterwards all states are zero
// again. Does nothing and returns false if another session runs in the arena. Requires: the memory is that of a new
// session in this arena. Throws std::bad_alloc.
[[nodiscard]] bool touch(const Executable& executable, const Arena& arena, SessionMemory& memory);

}  // namespace lowtide::runtime_internal
