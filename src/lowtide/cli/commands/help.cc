// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/help.h"
#include "lowtide/base/check.h"
#include "lowtide/cli/handlers.h"

namespace lowtide::cli_internal {

ExitCode run_help(const Arguments& arguments, Console& console) {
  if (arguments.has("--man")) {
    console.write_stdout(manual_page());
  } else if (const std::optional<std::string> name = arguments.optional_positional("COMMAND")) {
    const CommandSpec* command = find_command(*name);
    LOWTIDE_CHECK(command != nullptr, "the choices of help are commands");
    console.help(command_help(*command));
  } else {
    console.help(general_help());
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
