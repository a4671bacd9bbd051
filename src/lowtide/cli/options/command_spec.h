// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/cli/outcome.h"

// Every command and option is declared once, in the file specs.cc of its folder. Parsing, --help, the manual page and
// the completions of three shells are made from that declaration, so they cannot disagree.
namespace lowtide::cli_internal {

class Arguments;
class Console;

// The kind of a value or positional argument, for completion.
enum class ArgumentKind : std::uint8_t { none, text, file, choice };

struct OptionSpec {
  std::string_view name;         // "--budget"
  std::string_view letter = "";  // "-b"; empty: none
  std::string_view value = "";   // "SIZE"; empty: a flag
  std::string summary;
  ArgumentKind kind = ArgumentKind::none;
  std::vector<std::string> choices = {};  // for kind choice
  bool is_repeatable = false;
  std::vector<std::string_view> choice_help = {};  // what each choice means; empty: their names say it
};

struct PositionalSpec {
  std::string_view name;  // "MODEL"
  std::string summary;
  ArgumentKind kind = ArgumentKind::file;
  std::vector<std::string> choices = {};
  bool is_optional = false;
};

struct ExampleSpec {
  std::string_view command;  // "lowtide plan model.onnx"
  std::string_view meaning;
};

struct CommandSpec {
  std::string_view name;
  std::string_view summary;      // one line, no full stop
  std::string_view description;  // paragraphs, each on one line
  std::vector<PositionalSpec> positionals;
  std::vector<OptionSpec> options;  // without the common ones
  std::vector<ExampleSpec> examples;
  ExitCode (*run)(const Arguments& arguments, Console& console) = nullptr;
};

// In the order of the help.
[[nodiscard]] const std::vector<CommandSpec>& commands();

// The options of every command: --color, --quiet, --help.
[[nodiscard]] const std::vector<OptionSpec>& common_options();

// nullptr if there is no such command.
[[nodiscard]] const CommandSpec* find_command(std::string_view name);

// The options of the command first, then the common ones.
[[nodiscard]] std::vector<const OptionSpec*> options_of(const CommandSpec& command);

// The exit codes of the program, and those that a shell shows if a signal ended it ("128+N").
struct ExitCodeSpec {
  std::string code;
  std::string_view meaning;
};
[[nodiscard]] const std::vector<ExitCodeSpec>& exit_codes();

// For the help and the manual.
inline constexpr std::string_view kOutputsStayWhole =
    "No output file is ever left incomplete, however the program ends.";

}  // namespace lowtide::cli_internal
