// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"

// What the commands that run a model do, as in cli/handlers.h.
namespace lowtide::cli_internal {

[[nodiscard]] ExitCode run_run(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_prepare(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_bench(const Arguments& arguments, Console& console);

}  // namespace lowtide::cli_internal
