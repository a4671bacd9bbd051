// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/cli/commands.h"

namespace lowtide::cli_internal {

// What stood on the command line of one verb.
class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view option) const;
  // Of an option with a value that was given; nothing if it was not.
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  // In the order given.
  [[nodiscard]] const std::vector<std::string>& values(std::string_view option) const;
  // Of a place that must be there.
  [[nodiscard]] const std::string& place(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> optional_place(std::string_view name) const;

 private:
  friend Arguments parse_arguments(const VerbSpec& verb, const std::vector<std::string>& words);
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
};

// Reads what follows the verb: long and short options, "--name=value", "--" before places that begin with a dash.
// Stops with a usage error: an option that is not declared (with the nearest one that is), given twice, without its
// value; a value that is not one of the choices; too few or too many places. `--help` makes places optional.
[[nodiscard]] Arguments parse_arguments(const VerbSpec& verb, const std::vector<std::string>& words);

// ", did you mean '--budget'?" for the nearest of `known`, or nothing if none is near. Names in `known` are ours.
[[nodiscard]] std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace lowtide::cli_internal
