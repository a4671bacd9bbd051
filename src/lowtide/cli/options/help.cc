// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/help.h"

#include <string_view>
#include <vector>

#include "lowtide/cli/output/tool_name.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::size_t kColumns = 88;

// Wraps text between words. Each line of the text is a paragraph.
StyledText wrapped(std::string_view text, std::string_view indent) {
  StyledText out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > kColumns) {
      out.end_line();
      column = 0;
    }
    out.add(column == 0 ? indent : " ").add(word);
    column += word.size() + (column == 0 ? indent.size() : 1);
    if (end < text.size() && text[end] == '\n') {
      out.end_line();
      column = 0;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out.end_line();
}

StyledText option_table(const std::vector<OptionSpec>& options) {
  TextTable table({TextTable::Align::left, TextTable::Align::left});
  for (const OptionSpec& option : options)
    table.add_row({StyledText(option_names(option), Style::strong), option.summary});
  return table.text();
}

// The values of the options that take the name of a strategy or stage.
StyledText choices_section(const CommandSpec& command) {
  StyledText out;
  for (const OptionSpec& option : command.options) {
    if (!lists_choices(option)) continue;
    if (out.empty()) out.end_line().add("values", Style::heading).end_line();
    const char* colon = option.choice_help.empty() ? ": " : ":";  // choices with a help have a line each
    out.append(wrapped(std::string(option.name) + colon + choices_text(option), "  "));
  }
  return out;
}

}  // namespace

std::string usage_line(const CommandSpec& command) {
  std::string line = "lowtide " + std::string(command.name);
  for (const PositionalSpec& positional : command.positionals) {
    line += positional.is_optional ? " [" + std::string(positional.name) + "]" : " " + std::string(positional.name);
  }
  return line + " [OPTIONS]";
}

std::string option_names(const OptionSpec& option) {
  std::string names = option.letter.empty() ? "    " : std::string(option.letter) + ", ";
  names += option.name;
  if (!option.value.empty()) names += " " + std::string(option.value);
  return names;
}

bool lists_choices(const OptionSpec& option) {
  return !option.choices.empty() && (option.value == "NAME" || option.value == "STAGE" || !option.choice_help.empty());
}

std::string choices_text(const OptionSpec& option) {
  std::string text;
  for (std::size_t at = 0; at < option.choices.size(); ++at) {
    if (option.choice_help.empty()) {
      text += (text.empty() ? "" : ", ") + option.choices[at];
    } else {
      text += "\n" + option.choices[at] + ": " + std::string(option.choice_help[at]);
    }
  }
  return text;
}

std::string version_text() { return tool_name() + "\n"; }

StyledText general_help() {
  StyledText out("lowtide", Style::heading);
  out.add(
      " plans the memory of a neural network. It reads an ONNX model, and writes a verified plan and a drawing of it.");
  out.end_line().end_line().add("usage: ", Style::heading).add("lowtide COMMAND ... [OPTIONS]").end_line();
  out.end_line().add("commands", Style::heading).end_line();
  TextTable table({TextTable::Align::left, TextTable::Align::left});
  for (const CommandSpec& command : commands())
    table.add_row({StyledText(command.name, Style::strong), command.summary});
  out.append(table.text());
  out.end_line().add("examples", Style::heading).end_line();
  out.add("  lowtide inspect model.onnx").end_line();
  out.add("  lowtide plan model.onnx -o plan.json --html map.html").end_line();
  out.end_line().add("exit codes", Style::heading).end_line();
  TextTable codes({TextTable::Align::left, TextTable::Align::left});
  for (const ExitCodeSpec& code : exit_codes()) codes.add_row({code.code, code.meaning});
  out.append(codes.text()).add("  ").add(kOutputsStayWhole).end_line();
  out.end_line()
      .add("See 'lowtide COMMAND --help' for each command. 'lowtide --version' prints the version.")
      .end_line();
  return out;
}

StyledText command_help(const CommandSpec& command) {
  StyledText out("usage: ", Style::heading);
  out.add(usage_line(command)).end_line().end_line().append(wrapped(command.description, ""));
  if (!command.positionals.empty()) {
    out.end_line();
    TextTable table({TextTable::Align::left, TextTable::Align::left});
    for (const PositionalSpec& positional : command.positionals)
      table.add_row({StyledText(positional.name, Style::strong), positional.summary});
    out.append(table.text());
  }
  if (!command.options.empty())
    out.end_line().add("options", Style::heading).end_line().append(option_table(command.options));
  out.append(choices_section(command));
  out.end_line().add("common options", Style::heading).end_line().append(option_table(common_options()));
  out.end_line().add("examples", Style::heading).end_line();
  for (const ExampleSpec& example : command.examples) {
    out.add("  ").add(example.command).end_line();
    out.add("      ").add(example.meaning, Style::dim).end_line();
  }
  return out;
}

}  // namespace lowtide::cli_internal
