// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/cli/options/command_spec.h"
#include "lowtide/report/styled_text.h"

// Texts made from the declarations of the commands (command_spec.h).
namespace lowtide::cli_internal {

[[nodiscard]] StyledText general_help();
[[nodiscard]] StyledText command_help(const CommandSpec& command);

// tool_name() as a line.
[[nodiscard]] std::string version_text();

// The manual page lowtide(1), in roff.
[[nodiscard]] std::string manual_page();

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

// "lowtide plan MODEL [OPTIONS]"
[[nodiscard]] std::string usage_line(const CommandSpec& command);
// "-o, --output FILE"
[[nodiscard]] std::string option_names(const OptionSpec& option);
// Whether help lists the choices of an option apart from its summary, because they are names of strategies, stages or
// passes.
[[nodiscard]] bool lists_choices(const OptionSpec& option);
// "streams, waves, dataflow"; with OptionSpec::choice_help a line per choice
[[nodiscard]] std::string choices_text(const OptionSpec& option);

}  // namespace lowtide::cli_internal
