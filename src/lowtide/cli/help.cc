// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/help.h"

#include <string_view>
#include <vector>

namespace lowtide::cli_internal {
namespace {

constexpr std::size_t kColumns = 88;

// Breaks paragraphs (one on each line) between words.
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

}  // namespace

std::string usage_line(const VerbSpec& verb) {
  std::string line = "lowtide " + std::string(verb.name);
  for (const PlaceSpec& place : verb.places) {
    line += place.is_optional ? " [" + std::string(place.name) + "]" : " " + std::string(place.name);
  }
  return line + " [options]";
}

std::string option_names(const OptionSpec& option) {
  std::string names = option.letter.empty() ? "    " : std::string(option.letter) + ", ";
  names += option.name;
  if (!option.value.empty()) names += " " + std::string(option.value);
  return names;
}

std::string tool_name() { return "lowtide " LOWTIDE_VERSION; }

std::string version_text() { return tool_name() + "\n"; }

StyledText general_help() {
  StyledText out("lowtide", Style::heading);
  out.add(" plans the memory of a neural network: from a model file to a verified plan and its picture.");
  out.end_line().end_line().add("usage: ", Style::heading).add("lowtide VERB ... [options]").end_line();
  out.end_line().add("verbs", Style::heading).end_line();
  TextTable table({TextTable::Align::left, TextTable::Align::left});
  for (const VerbSpec& verb : verbs()) table.add_row({StyledText(verb.name, Style::strong), verb.summary});
  out.append(table.text());
  out.end_line().add("examples", Style::heading).end_line();
  out.add("  lowtide inspect model.onnx").end_line();
  out.add("  lowtide plan model.onnx -o plan.json --html map.html").end_line();
  out.end_line().add("exit codes", Style::heading).end_line();
  TextTable codes({TextTable::Align::left, TextTable::Align::left});
  for (const ExitCodeSpec& code : exit_codes()) codes.add_row({code.code, code.meaning});
  out.append(codes.text()).add("  ").add(kOutputsStayWhole).end_line();
  out.end_line().add("'lowtide VERB --help' explains a verb; 'lowtide --version' prints the version.").end_line();
  return out;
}

StyledText verb_help(const VerbSpec& verb) {
  StyledText out("usage: ", Style::heading);
  out.add(usage_line(verb)).end_line().end_line().append(wrapped(verb.description, ""));
  if (!verb.places.empty()) {
    out.end_line();
    TextTable table({TextTable::Align::left, TextTable::Align::left});
    for (const PlaceSpec& place : verb.places) table.add_row({StyledText(place.name, Style::strong), place.summary});
    out.append(table.text());
  }
  if (!verb.options.empty())
    out.end_line().add("options", Style::heading).end_line().append(option_table(verb.options));
  out.end_line().add("common options", Style::heading).end_line().append(option_table(common_options()));
  out.end_line().add("examples", Style::heading).end_line();
  for (const ExampleSpec& example : verb.examples) {
    out.add("  ").add(example.command).end_line();
    out.add("      ").add(example.meaning, Style::dim).end_line();
  }
  return out;
}

}  // namespace lowtide::cli_internal
