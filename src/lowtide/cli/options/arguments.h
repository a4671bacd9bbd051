// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/cli/options/command_spec.h"

namespace lowtide::cli_internal {

// The arguments of one command.
class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view option) const;
  // The value of an option; nullopt if the option was not given.
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  // All values of a repeatable option, in the order given.
  [[nodiscard]] const std::vector<std::string>& values(std::string_view option) const;
  // A positional argument that is not optional.
  [[nodiscard]] const std::string& positional(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> optional_positional(std::string_view name) const;

 private:
  friend Arguments parse_arguments(const CommandSpec& command, const std::vector<std::string>& words);
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
};

// Reads what follows the command: long and short options, "--name=value", and "--" before positional arguments that
// begin with a dash. Stops with a usage error for an unknown option, and names the nearest one. Also stops for an
// option given twice or without its value, a value that is not one of the choices, and too few or too many positional
// arguments. `--help` makes positional arguments optional.
[[nodiscard]] Arguments parse_arguments(const CommandSpec& command, const std::vector<std::string>& words);

// "; did you mean '--budget'?" for the nearest of `known`; empty if none is near. `known` must not come from input.
[[nodiscard]] std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace lowtide::cli_internal
