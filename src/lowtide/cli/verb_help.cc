// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/check.h"
#include "lowtide/cli/help.h"
#include "lowtide/cli/verbs.h"

namespace lowtide::cli_internal {

ExitCode run_help(const Arguments& arguments, Console& console) {
  if (arguments.has("--man")) {
    console.write_stdout(manual_page());
  } else if (const std::optional<std::string> name = arguments.optional_place("VERB")) {
    const VerbSpec* verb = find_verb(*name);
    LOWTIDE_CHECK(verb != nullptr, "the choices of help are verbs");
    console.result(verb_help(*verb));
  } else {
    console.result(general_help());
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
