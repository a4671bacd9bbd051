// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "lowtide/runtime/arena.h"
#include "lowtide/runtime/executable.h"
#include "lowtide/runtime/execute/session_memory.h"

namespace lowtide::runtime_internal {

// The memory that runs of a session share with other sessions.
struct SessionArenas {
  Arena arena;
  std::optional<Arena> outside;  // nullopt: no bytes leave the arena

  [[nodiscard]] std::span<std::byte> outside_memory() const {
    return outside ? outside->memory() : std::span<std::byte>();
  }
  // Marks both as used by a run. Returns false if another run uses one of them.
  [[nodiscard]] bool acquire() const noexcept;
  void release() const noexcept;
};

// Makes all memory of a run present, and runs each kernel once: SessionOptions::touch. Afterwards all states are zero
// again. Does nothing and returns false if another session runs in the arenas. Requires: the memory is that of a new
// session in these arenas. Throws std::bad_alloc.
[[nodiscard]] bool touch(const Executable& executable, const SessionArenas& arenas, SessionMemory& memory);

}  // namespace lowtide::runtime_internal
