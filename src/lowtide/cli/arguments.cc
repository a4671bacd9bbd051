// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"

namespace lowtide::detail {
namespace {

const std::vector<std::string> kNone;

// Least number of letters to insert, remove, replace, or swap with a neighbour (optimal string alignment).
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

std::string verb_text(const VerbSpec& verb) { return "'lowtide " + std::string(verb.name) + "'"; }

[[noreturn]] void stop_unknown_option(const VerbSpec& verb, const std::string& word) {
  std::vector<std::string> known;
  for (const OptionSpec* option : options_of(verb)) {
    known.emplace_back(option->name);
    if (!option->letter.empty()) known.emplace_back(option->letter);
  }
  const std::string name = word.substr(0, word.find('='));
  const std::string hint = suggestion(name, known);
  const std::string help = hint.empty() ? "; see 'lowtide " + std::string(verb.name) + " --help'" : hint;
  stop_usage("unknown option " + quoted(name, 60) + " for " + verb_text(verb) + help);
}

// What no option and no place took.
void check_rest(const VerbSpec& verb, const std::vector<std::string>& rest) {
  for (const std::string& word : rest) {
    if (word.size() > 1 && word[0] == '-' && word != "--") stop_unknown_option(verb, word);
  }
  for (const std::string& word : rest) {
    if (word == "--") continue;
    stop_usage("unexpected argument " + quoted(word, 60) + " for " + verb_text(verb) + "; see 'lowtide " +
               std::string(verb.name) + " --help'");
  }
}

void check_choice(std::string_view what, const std::vector<std::string>& choices, const std::string& word) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), word) != choices.end()) return;
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  stop_usage(std::string(what) + " is one of " + list + ", not " + quoted(word, 60) + suggestion(word, choices));
}

void declare(const VerbSpec& verb, std::map<std::string, std::vector<std::string>, std::less<>>& given,
             std::map<std::string, bool, std::less<>>& flags, CLI::App& parser) {
  parser.set_help_flag();
  parser.allow_extras();
  for (const OptionSpec* option : options_of(verb)) {
    const std::string name(option->name);
    const std::string names = (option->letter.empty() ? "" : std::string(option->letter) + ",") + name;
    if (option->value.empty()) {
      parser.add_flag(names, flags[name]);
    } else {
      parser.add_option(names, given[name])->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
  for (const PlaceSpec& place : verb.places) {
    const std::string name(place.name);
    // One word each; what is too much stays for check_rest, which says it better.
    parser.add_option(name, given[name])->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

}  // namespace

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
  if (wrong.size() > 60) return "";
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const std::string& candidate : known) {
    const std::size_t letters = distance(wrong, candidate);
    if (nearest == nullptr || letters < least) {
      nearest = &candidate;
      least = letters;
    }
  }
  // A third of the letters wrong is still a slip; more is another word.
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

std::optional<std::string> Arguments::optional_place(std::string_view name) const { return value(name); }

const std::string& Arguments::place(std::string_view name) const {
  LOWTIDE_CHECK(!values(name).empty(), "a place that is not optional was checked to be there");
  return values(name).front();
}

Arguments parse_arguments(const VerbSpec& verb, const std::vector<std::string>& words) {
  std::map<std::string, std::vector<std::string>, std::less<>> given;
  std::map<std::string, bool, std::less<>> flags;
  CLI::App parser;
  declare(verb, given, flags, parser);
  try {
    parser.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    check_rest(verb, parser.remaining());
    stop_usage(quoted(error.what()) + " in " + verb_text(verb));
  }
  check_rest(verb, parser.remaining());

  Arguments arguments;
  for (const auto& [name, is_on] : flags) {
    if (is_on) arguments.given_[name];
  }
  for (const OptionSpec* option : options_of(verb)) {
    const std::vector<std::string>& values = given[std::string(option->name)];
    if (values.size() > 1 && !option->is_repeatable) {
      stop_usage("option '" + std::string(option->name) + "' is given " + std::to_string(values.size()) + " times; once is enough");
    }
    for (const std::string& value : values) check_choice("'" + std::string(option->name) + "'", option->choices, value);
    if (!values.empty()) arguments.given_[std::string(option->name)] = values;
  }
  for (const PlaceSpec& place : verb.places) {
    const std::vector<std::string>& values = given[std::string(place.name)];
    if (values.empty()) {
      if (place.is_optional || arguments.has("--help")) continue;
      stop_usage(verb_text(verb) + " needs " + std::string(place.name) + ", " + std::string(place.summary));
    }
    check_choice(place.name, place.choices, values.front());
    arguments.given_[std::string(place.name)] = values;
  }
  return arguments;
}

}  // namespace lowtide::detail
