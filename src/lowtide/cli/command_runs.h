// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/arguments.h"
#include "lowtide/cli/console.h"
#include "lowtide/cli/outcome.h"

// One function per command, each in its own file. It returns an exit code or throws a Stop.
namespace lowtide::cli_internal {

[[nodiscard]] ExitCode run_inspect(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_plan(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_run(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_prepare(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_bench(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_explain(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_verify(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_view(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_pack(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_order(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_compare(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_convert(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_diff(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_rewrite(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_share(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_completion(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode run_help(const Arguments& arguments, Console& console);

}  // namespace lowtide::cli_internal
