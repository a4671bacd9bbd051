// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/handlers.h"
#include "lowtide/cli/options/help.h"

namespace lowtide::cli_internal {

ExitCode run_completion(const Arguments& arguments, Console& console) {
  const std::string& shell = arguments.positional("SHELL");
  if (shell == "bash") {
    console.write_stdout(bash_completion());
  } else if (shell == "zsh") {
    console.write_stdout(zsh_completion());
  } else {
    console.write_stdout(fish_completion());
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
