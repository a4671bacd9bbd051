// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/cli/outcome.h"

// Every verb and option is declared once, in commands.cc. Parsing, --help, the man page and the completions of three
// shells are made from that declaration, so they cannot disagree.
namespace lowtide::cli_internal {

class Arguments;
class Console;

// What stands after an option or in a place, for completion.
enum class ArgumentKind : std::uint8_t { none, text, file, choice };

struct OptionSpec {
  std::string_view name;         // "--budget"
  std::string_view letter = "";  // "-b"; empty: none
  std::string_view value = "";   // "SIZE"; empty: a flag
  std::string_view summary;
  ArgumentKind kind = ArgumentKind::none;
  std::vector<std::string> choices = {};  // for kind choice
  bool is_repeatable = false;
};

struct PlaceSpec {
  std::string_view name;  // "MODEL"
  std::string_view summary;
  ArgumentKind kind = ArgumentKind::file;
  std::vector<std::string> choices = {};
  bool is_optional = false;
};

struct ExampleSpec {
  std::string_view command;  // "lowtide plan model.onnx"
  std::string_view meaning;
};

struct VerbSpec {
  std::string_view name;
  std::string_view summary;      // one line, no full stop
  std::string_view description;  // paragraphs, each on one line
  std::vector<PlaceSpec> places;
  std::vector<OptionSpec> options;  // without those that every verb has
  std::vector<ExampleSpec> examples;
  ExitCode (*run)(const Arguments& arguments, Console& console) = nullptr;
};

// In the order of the help.
[[nodiscard]] const std::vector<VerbSpec>& verbs();

// Those that every verb has: --color, --quiet, --help.
[[nodiscard]] const std::vector<OptionSpec>& common_options();

// nullptr if there is none of that name.
[[nodiscard]] const VerbSpec* find_verb(std::string_view name);

// Own options first, then the common ones.
[[nodiscard]] std::vector<const OptionSpec*> options_of(const VerbSpec& verb);

// How the program ends: its own exit codes, then what a shell shows where a signal ended it ("128+N").
struct ExitCodeSpec {
  std::string code;
  std::string_view meaning;
};
[[nodiscard]] const std::vector<ExitCodeSpec>& exit_codes();

// One sentence, true for every way to end.
inline constexpr std::string_view kOutputsStayWhole = "However the program ends, no output file is left half written.";

}  // namespace lowtide::cli_internal
