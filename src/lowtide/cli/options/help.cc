// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/help.h"

#include <string_view>
#include <vector>

#include "lowtide/cli/output/tool_name.h"

namespace lowtide::cli_internal {
namespace {

StyledText option_table(const std::vector<OptionSpec>& options) {
  TextTable table({TextTable::Align::left, TextTable::Align::left});
  for (const OptionSpec& option : options)
    table.add_row({StyledText(option_names(option), Style::strong), option.summary});
  return table.text();
}

// Lines that are indented by two columns.
StyledText indented(std::string_view text) {
  StyledText out;
  while (true) {
    const std::size_t end = text.find('\n');
    out.add("  ").add(text.substr(0, end)).end_line();
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

// The values of the options that take the name of a strategy or stage.
StyledText choices_section(const CommandSpec& command) {
  StyledText out;
  for (const OptionSpec& option : command.options) {
    if (!lists_choices(option)) continue;
    if (out.empty()) out.end_line().add("values", Style::heading).end_line();
    const char* colon = option.choice_help.empty() ? ": " : ":";  // choices with a help have a line each
    out.append(indented(std::string(option.name) + colon + choices_text(option)));
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
  out.add(usage_line(command)).end_line().end_line().add(command.description).end_line();
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
    TextTable whole({TextTable::Align::right});  // such a column is never narrower, so the command can be copied
    whole.add_row({example.command});
    out.append(whole.text());
    out.add("      ").add(example.meaning, Style::dim).end_line();
  }
  return out;
}

}  // namespace lowtide::cli_internal
