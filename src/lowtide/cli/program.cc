// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/program.h"

#include <unistd.h>

#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/earlier.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/options/help.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/runtime.h"
#include "lowtide/import/import.h"

namespace lowtide::cli_internal {
namespace {

ColorChoice color_choice(const Arguments& arguments) {
  const std::string choice = arguments.value("--color").value_or("auto");
  if (choice == "always") return ColorChoice::always;
  return choice == "never" ? ColorChoice::never : ColorChoice::automatic;
}

// Says how to get a command that this build does not have.
void stop_if_left_out(const std::string& command) {
  const auto has = [&](const std::vector<std::string_view>& names) {
    return std::ranges::find(names, command) != names.end();
  };
  const std::string begin = "this build leaves out the command '" + command + "', which ";
  if (has(left_out_earlier_commands()))
    stop_usage(begin + "is for earlier systems; build Lowtide with lowtide_WITH_EARLIER=ON");
  if (has(left_out_runtime_commands()))
    stop_usage(begin + "runs kernels on this machine; build Lowtide with lowtide_WITH_RUNTIME=ON");
}

ExitCode run_words(const std::vector<std::string>& words, Console& console) {
  if (words.empty()) {
    console.remark(general_help());
    return ExitCode::usage;
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h") {
    console.help(general_help());
    return ExitCode::done;
  }
  if (first == "--version" || first == "-V") {
    console.write_stdout(version_text());
    return ExitCode::done;
  }
  const CommandSpec* command = find_command(first);
  if (command == nullptr) {
    std::vector<std::string> known;
    for (const CommandSpec& one : commands()) known.emplace_back(one.name);
    stop_if_left_out(first);
    const std::string hint = suggestion(first, known);
    stop_usage("unknown command " + quoted(first, 60) + (hint.empty() ? "; see 'lowtide --help'" : hint));
  }
  const Arguments arguments = parse_arguments(*command, {words.begin() + 1, words.end()});
  console.set_colors(color_choice(arguments));
  console.set_quiet(arguments.has("--quiet"));
  if (arguments.has("--help")) {
    console.help(command_help(*command));
    return ExitCode::done;
  }
  return command->run(arguments, console);
}

int report(Console& console, ExitCode code, const std::string& message) {
  console.error(message);
  return static_cast<int>(code);
}

}  // namespace

int run(const std::vector<std::string>& words) noexcept {
  try {
    Console console;
    console.set_colors(ColorChoice::automatic);
    skip_digest_configuration();
    try {
      return static_cast<int>(run_words(words, console));
    } catch (const Stop& stop) {
      return report(console, stop.code(), stop.what());
    } catch (const InvariantViolation& violation) {
      return report(console, ExitCode::internal, quoted(violation.what(), 2000) + please_report());
    } catch (const std::bad_alloc&) {
      return report(console, ExitCode::bad_input, "the system has no memory for this command");
    } catch (const std::exception& exception) {
      return report(console, ExitCode::internal,
                    "unexpected exception: " + quoted(exception.what(), 2000) + please_report());
    }
  } catch (...) {
    // There is no memory for a message. This one needs none.
    static constexpr char kLast[] = "error: out of memory while reporting an error\n";
    static_cast<void>(!write(STDERR_FILENO, kLast, sizeof(kLast) - 1));
    return static_cast<int>(ExitCode::internal);
  }
}

}  // namespace lowtide::cli_internal
