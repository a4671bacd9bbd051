// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"

namespace lowtide::cli_internal {
namespace {

const std::vector<std::string> kNone;

// The least number of letters to insert, remove, replace, or swap with a neighbour (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) least[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) least[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return least[a.size()][b.size()];
}

std::string command_text(const CommandSpec& command) { return "'lowtide " + std::string(command.name) + "'"; }

[[noreturn]] void stop_unknown_option(const CommandSpec& command, const std::string& word) {
  std::vector<std::string> known;
  for (const OptionSpec* option : options_of(command)) {
    known.emplace_back(option->name);
    if (!option->letter.empty()) known.emplace_back(option->letter);
  }
  const std::string name = word.substr(0, word.find('='));
  const std::string hint = suggestion(name, known);
  const std::string help = hint.empty() ? "; see 'lowtide " + std::string(command.name) + " --help'" : hint;
  stop_usage("unknown option " + quoted(name, 60) + " for " + command_text(command) + help);
}

// Returns the words that belong to no option. After "--", a dash has no special meaning.
std::vector<std::string> positional_words(const CommandSpec& command, const std::vector<std::string>& rest) {
  std::vector<std::string> words;
  bool after_mark = false;
  for (const std::string& word : rest) {
    if (!after_mark && word == "--") {
      after_mark = true;
    } else {
      if (!after_mark && word.size() > 1 && word[0] == '-') stop_unknown_option(command, word);
      words.push_back(word);
    }
  }
  return words;
}

// Finds the option whose value is missing or superfluous, because the parser does not name it.
[[noreturn]] void stop_wrong_value(const CommandSpec& command, const std::vector<std::string>& words, const char* why) {
  const auto spelled = [&](const std::string& word) -> const OptionSpec* {
    for (const OptionSpec* option : options_of(command)) {
      if (word == option->name || (word == option->letter && !word.empty())) return option;
    }
    return nullptr;
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    const OptionSpec* option = spelled(words[at].substr(0, words[at].find('=')));
    if (option == nullptr) continue;
    if (option->value.empty()) {
      if (words[at].find('=') != std::string::npos)
        stop_usage("option '" + std::string(option->name) + "' takes no value");
      continue;
    }
    if (at + 1 == words.size() || spelled(words[at + 1]) != nullptr) {
      stop_usage("option '" + std::string(option->name) + "' needs a value: " + std::string(option->value));
    }
  }
  stop_usage(quoted(why) + " in " + command_text(command));
}

void check_choice(std::string_view what, const std::vector<std::string>& choices, const std::string& word) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), word) != choices.end()) return;
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  stop_usage(std::string(what) + " must be one of " + list + ", not " + quoted(word, 60) + suggestion(word, choices));
}

// Positional arguments are not declared to the parser. They are assigned below, where the messages are better.
void declare(const CommandSpec& command, std::map<std::string, std::vector<std::string>, std::less<>>& given,
             std::map<std::string, bool, std::less<>>& flags, CLI::App& parser) {
  parser.set_help_flag();
  parser.allow_extras();
  for (const OptionSpec* option : options_of(command)) {
    const std::string name(option->name);
    const std::string names = (option->letter.empty() ? "" : std::string(option->letter) + ",") + name;
    if (option->value.empty()) {
      parser.add_flag(names, flags[name])->disable_flag_override();
    } else {
      CLI::Option* added = parser.add_option(names, given[name]);
      added->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
}

void check_given(const CommandSpec& command, const Arguments& arguments) {
  for (const OptionSpec* option : options_of(command)) {
    const std::vector<std::string>& values = arguments.values(option->name);
    const std::string name = "'" + std::string(option->name) + "'";
    if (values.size() > 1 && !option->is_repeatable) {
      stop_usage("option " + name + " is given " + std::to_string(values.size()) + " times; give it once");
    }
    for (const std::string& value : values) check_choice(name, option->choices, value);
  }
  for (const PositionalSpec& positional : command.positionals) {
    const std::optional<std::string> word = arguments.optional_positional(positional.name);
    if (word) check_choice(positional.name, positional.choices, *word);
    if (word || positional.is_optional || arguments.has("--help")) continue;
    stop_usage(command_text(command) + " needs " + std::string(positional.name) + ": " +
               std::string(positional.summary));
  }
}

}  // namespace

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
  // Almost every short word is close to some known word, so a suggestion would not help.
  if (wrong.size() < 3 || wrong.size() > 60) return "";
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const std::string& candidate : known) {
    const std::size_t letters = distance(wrong, candidate);
    if (nearest == nullptr || letters < least) {
      nearest = &candidate;
      least = letters;
    }
  }
  // If more than a third of the letters differ, another word was meant.
  if (nearest == nullptr || least > std::max<std::size_t>(1, nearest->size() / 3)) return "";
  return "; did you mean '" + *nearest + "'?";
}

bool Arguments::has(std::string_view option) const { return given_.find(option) != given_.end(); }

const std::vector<std::string>& Arguments::values(std::string_view option) const {
  const auto found = given_.find(option);
  return found == given_.end() ? kNone : found->second;
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const std::vector<std::string>& all = values(option);
  return all.empty() ? std::nullopt : std::optional<std::string>(all.back());
}

std::optional<std::string> Arguments::optional_positional(std::string_view name) const { return value(name); }

const std::string& Arguments::positional(std::string_view name) const {
  LOWTIDE_CHECK(!values(name).empty(), "a required positional argument has a value");
  return values(name).front();
}

Arguments parse_arguments(const CommandSpec& command, const std::vector<std::string>& words) {
  std::map<std::string, std::vector<std::string>, std::less<>> given;
  std::map<std::string, bool, std::less<>> flags;
  CLI::App parser;
  declare(command, given, flags, parser);
  try {
    parser.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    stop_wrong_value(command, words, error.what());
  }

  Arguments arguments;
  for (const auto& [name, is_on] : flags) {
    if (is_on) arguments.given_[name];
  }
  for (auto& [name, values] : given) {
    if (!values.empty()) arguments.given_[name] = std::move(values);
  }
  std::vector<std::string> rest = positional_words(command, parser.remaining());
  for (std::size_t at = 0; at < rest.size(); ++at) {
    if (at >= command.positionals.size()) {
      stop_usage("unexpected argument " + quoted(rest[at], 60) + " for " + command_text(command) + "; see 'lowtide " +
                 std::string(command.name) + " --help'");
    }
    arguments.given_[std::string(command.positionals[at].name)] = {std::move(rest[at])};
  }
  check_given(command, arguments);
  return arguments;
}

}  // namespace lowtide::cli_internal
