// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/cli/options/help.h"

namespace lowtide::cli_internal {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandSpec& command : commands()) names.emplace_back(command.name);
  return names;
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, what.size()) == what) {
      out += with;
      at += what.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

// Quotes for a POSIX shell.
std::string in_quotes(std::string_view text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::vector<std::string> spellings(const OptionSpec& option) {
  std::vector<std::string> all = {std::string(option.name)};
  if (!option.letter.empty()) all.emplace_back(option.letter);
  return all;
}

// The cases of bash after an option that takes a value.
std::string bash_value_cases(const CommandSpec& command) {
  std::string files;
  std::string texts;
  std::string out;
  for (const OptionSpec* option : options_of(command)) {
    const std::string names = joined(spellings(*option), "|");
    if (option->kind == ArgumentKind::choice) {
      out += "        " + names + ") COMPREPLY=($(compgen -W '" + joined(option->choices, " ") +
             "' -- \"$current\")); return ;;\n";
    }
    if (option->kind == ArgumentKind::file) files += (files.empty() ? "" : "|") + names;
    if (option->kind == ArgumentKind::text) texts += (texts.empty() ? "" : "|") + names;
  }
  if (!files.empty()) out += "        " + files + ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n";
  if (!texts.empty()) out += "        " + texts + ") return ;;\n";
  return out;
}

std::string zsh_spec(const OptionSpec& option) {
  // In a spec of _arguments, brackets and colons have a special meaning.
  const std::string summary = replaced(replaced(replaced(option.summary, "[", "("), "]", ")"), ":", "\\:");
  std::string value;
  if (!option.value.empty()) {
    value = ":" + std::string(option.value) + ":";
    if (option.kind == ArgumentKind::file) value += "_files";
    if (option.kind == ArgumentKind::choice) value += "(" + joined(option.choices, " ") + ")";
  }
  const std::string repeat = option.is_repeatable ? "*" : "";
  std::string out;
  for (const std::string& name : spellings(option)) {
    out += " \\\n        " + in_quotes(repeat + name + "[" + summary + "]" + value);
  }
  return out;
}

std::string zsh_positional(const PositionalSpec& positional) {
  const std::string action =
      positional.kind == ArgumentKind::choice ? "(" + joined(positional.choices, " ") + ")" : "_files";
  return " \\\n        " +
         in_quotes((positional.is_optional ? "::" : ":") + std::string(positional.name) + ":" + action);
}

}  // namespace

std::string bash_completion() {
  std::string out = "# bash completion of lowtide\n_lowtide() {\n";
  out += "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n  COMPREPLY=()\n";
  out += "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '" + joined(command_names(), " ") +
         " --help --version' -- \"$current\"))\n    return\n  fi\n";
  out += "  case ${COMP_WORDS[1]} in\n";
  for (const CommandSpec& command : commands()) {
    std::vector<std::string> names;
    for (const OptionSpec* option : options_of(command)) {
      for (std::string& name : spellings(*option)) names.push_back(std::move(name));
    }
    const PositionalSpec& first = command.positionals.front();
    out += "    " + std::string(command.name) + ")\n      case $previous in\n" + bash_value_cases(command) +
           "      esac\n";
    out += "      case $current in\n        -*) COMPREPLY=($(compgen -W '" + joined(names, " ") +
           "' -- \"$current\")); return ;;\n      esac\n";
    out += first.kind == ArgumentKind::choice
               ? "      COMPREPLY=($(compgen -W '" + joined(first.choices, " ") + "' -- \"$current\")) ;;\n"
               : std::string("      COMPREPLY=($(compgen -f -- \"$current\")) ;;\n");
  }
  return out + "  esac\n}\ncomplete -o filenames -F _lowtide lowtide\n";
}

std::string zsh_completion() {
  std::string out = "#compdef lowtide\n_lowtide() {\n  local -a commands\n  commands=(\n";
  for (const CommandSpec& command : commands()) {
    out += "    " + in_quotes(std::string(command.name) + ":" + replaced(command.summary, ":", "\\:")) + "\n";
  }
  out += "  )\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n";
  out += "  local command=${words[2]}\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CommandSpec& command : commands()) {
    out += "    " + std::string(command.name) + ")\n      _arguments -s";
    for (const OptionSpec* option : options_of(command)) out += zsh_spec(*option);
    for (const PositionalSpec& positional : command.positionals) out += zsh_positional(positional);
    out += " ;;\n";
  }
  return out + "  esac\n}\nif [ \"$funcstack[1]\" = _lowtide ]; then _lowtide; else compdef _lowtide lowtide; fi\n";
}

std::string fish_completion() {
  // In fish's single quotes, backslash escapes itself and the quote.
  const auto quoted_for_fish = [](std::string_view text) {
    return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
  };
  std::string out = "# fish completion of lowtide\ncomplete -c lowtide -n __fish_use_subcommand -f\n";
  for (const CommandSpec& command : commands()) {
    out += "complete -c lowtide -n __fish_use_subcommand -a " + std::string(command.name) + " -d " +
           quoted_for_fish(command.summary) + "\n";
  }
  for (const CommandSpec& command : commands()) {
    const std::string start = "complete -c lowtide -n '__fish_seen_subcommand_from " + std::string(command.name) + "'";
    for (const PositionalSpec& positional : command.positionals) {
      if (positional.kind == ArgumentKind::choice)
        out += start + " -f -a " + quoted_for_fish(joined(positional.choices, " ")) + "\n";
    }
    for (const OptionSpec* option : options_of(command)) {
      out += start + " -l " + std::string(option->name.substr(2));
      if (!option->letter.empty()) out += " -s " + std::string(option->letter.substr(1));
      if (option->kind == ArgumentKind::choice) out += " -x -a " + quoted_for_fish(joined(option->choices, " "));
      if (option->kind == ArgumentKind::file) out += " -r -F";
      if (option->kind == ArgumentKind::text) out += " -x";
      out += " -d " + quoted_for_fish(option->summary) + "\n";
    }
  }
  return out;
}

}  // namespace lowtide::cli_internal
