// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/plan/transfers.h"
#include "lowtide/runtime/arena.h"
#include "lowtide/runtime/executable.h"

namespace lowtide::cli_internal {

// --link, --link-latency and --cost-unit. `nanoseconds_per_cost` of the link is that of --cost-unit, or 0 without it.
// nullopt without --link. Every invalid value stops with a usage error that shows a valid one, and so does an option
// without the one that it belongs to. `budget` is the option that says how much memory there is, and `example` a value.
[[nodiscard]] std::optional<TransferLink> read_link(const Arguments& arguments, const std::string& budget = "--budget",
                                                    const std::string& example = "4GiB");

// --swap-dir of `run` and `bench`: the memory for what leaves the arena of a plan. nullopt: the session has its own.
[[nodiscard]] std::optional<Arena> read_outside(const Arguments& arguments, const Executable& executable,
                                                Console& console);

}  // namespace lowtide::cli_internal
