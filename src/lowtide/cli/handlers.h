// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"

// What the commands do: one function per command, each in its own file. It returns an exit code or throws a Stop. Those
// that run models are in commands/run/handlers.h, and those for earlier systems in commands/earlier/handlers.h.
namespace lowtide::cli_internal {

[[nodiscard]] ExitCode run_inspect(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_plan(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_explain(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_check(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_verify(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_export(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_view(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_pack(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_order(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_completion(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_help(const Arguments& arguments, Console& console);

}  // namespace lowtide::cli_internal
