// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"

// What the commands for earlier systems do, as in cli/handlers.h.
namespace lowtide::cli_internal {

[[nodiscard]] ExitCode run_compare(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_replay(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_reorder(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_share(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_rewrite(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_convert(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_diff(const Arguments& arguments, Console& console);

}  // namespace lowtide::cli_internal
