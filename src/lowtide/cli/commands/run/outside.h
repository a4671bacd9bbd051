// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/runtime/arena.h"
#include "lowtide/runtime/executable.h"

namespace lowtide::cli_internal {

// --swap-dir of `run` and `bench`: the memory for what leaves the arena of a plan. nullopt: the session has its own.
[[nodiscard]] std::optional<Arena> read_outside(const Arguments& arguments, const Executable& executable,
                                                Console& console);

}  // namespace lowtide::cli_internal
