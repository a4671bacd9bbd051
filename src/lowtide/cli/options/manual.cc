// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

#include "lowtide/cli/options/help.h"
#include "lowtide/cli/output/tool_name.h"

namespace lowtide::cli_internal {
namespace {

// Escapes what roff would interpret: a dot or quote at the start of a line, backslashes, dashes and tildes.
std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool starts_line = out.empty() || out.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '\n') {
      out += "\n.PP\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string tagged(std::string_view tag, std::string_view text) {
  return ".TP\n\\fB" + roff(tag) + "\\fR\n" + roff(text) + "\n";
}

std::string option_entry(const OptionSpec& option) {
  std::string tag = "\\fB" + roff(option.name) + "\\fR";
  if (!option.letter.empty()) tag = "\\fB" + roff(option.letter) + "\\fR, " + tag;
  if (!option.value.empty()) tag += " \\fI" + roff(option.value) + "\\fR";
  std::string summary(option.summary);
  if (lists_choices(option)) summary += "; one of " + choices_text(option);
  return ".TP\n" + tag + "\n" + roff(summary) + "\n";
}

std::string command_section(const CommandSpec& command) {
  std::string out = ".SS " + roff(usage_line(command)) + "\n" + roff(command.description) + "\n";
  for (const PositionalSpec& positional : command.positionals) out += tagged(positional.name, positional.summary);
  for (const OptionSpec& option : command.options) out += option_entry(option);
  for (const ExampleSpec& example : command.examples) {
    out += ".PP\n" + roff(example.meaning) + "\n.PP\n.nf\n.RS\n" + roff(example.command) + "\n.RE\n.fi\n";
  }
  return out;
}

}  // namespace

std::string manual_page() {
  std::string out = ".TH LOWTIDE 1 \"\" \"" + tool_name() + "\" \"User Commands\"\n";
  out += ".SH NAME\nlowtide \\- plan the memory of a neural network\n";
  out += ".SH SYNOPSIS\n.B lowtide\n.I COMMAND\n\\&... [\\fIOPTIONS\\fR]\n";
  out += ".SH DESCRIPTION\n";
  out +=
      "Lowtide plans the memory of neural networks. It decides when each operator runs, and where and how long each "
      "tensor is stored, so that the network fits into the available memory. It verifies every plan against its model, "
      "and prints the arena next to a proven lower bound.\n.PP\n"
      "Results go to stdout, everything else to stderr. The same model and options give the same plan, byte for "
      "byte.\n";
  out += ".SH COMMANDS\n";
  for (const CommandSpec& command : commands()) out += command_section(command);
  out += ".SH COMMON OPTIONS\n";
  for (const OptionSpec& option : common_options()) out += option_entry(option);
  out += ".SH EXIT STATUS\n";
  for (const ExitCodeSpec& code : exit_codes()) out += tagged(code.code, code.meaning);
  out += ".PP\n" + roff(kOutputsStayWhole) + "\n";
  out += ".SH ENVIRONMENT\n";
  out += tagged("COLUMNS", "the most columns of a line; default: those of the terminal; in a file lines stay whole");
  out += tagged("NO_COLOR", "if set and not empty: no colours, except with --color=always");
  out += tagged("CLICOLOR_FORCE", "if set, not empty and not 0: colours even if stdout is not a terminal");
  out += tagged("TERM", "if dumb: no colours and no progress");
  return out;
}

}  // namespace lowtide::cli_internal
