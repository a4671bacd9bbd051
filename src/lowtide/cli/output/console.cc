// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/descriptor.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::size_t kHelpColumns = 88;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets one
  return value == nullptr ? "" : value;
}

bool wants_colors(ColorChoice choice, int stream) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  if (!environment("NO_COLOR").empty()) return false;
  const std::string_view force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return environment("TERM") != "dumb" && isatty(stream) == 1;
}

// The columns that COLUMNS states, or those of the terminal but at most `most`; without both, `most`.
std::size_t columns_of_stdout(std::size_t most) {
  std::size_t columns = 0;
  const std::string_view stated = environment("COLUMNS");
  const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), columns);
  if (error == std::errc() && end == stated.data() + stated.size() && columns > 0) return columns;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::min<std::size_t>(size.ws_col, most);
  }
  return most;
}

// Returns 0, or the errno of the write that failed.
int write_to_stream(int stream, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(stream, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void Console::set_colors(ColorChoice choice) {
  colors_stdout_ = wants_colors(choice, STDOUT_FILENO);
  colors_stderr_ = wants_colors(choice, STDERR_FILENO);
}

void Console::result(const StyledText& text) { write(text, columns_of_stdout(StyledText::kAnyWidth)); }

void Console::help(const StyledText& text) { write(text, columns_of_stdout(kHelpColumns)); }

void Console::write(const StyledText& text, std::size_t columns) {
  if (is_stdout_taken_) {
    remark(text);
  } else {
    write_stdout(text.render(colors_stdout_, columns));
  }
}

void Console::write_stdout(std::string_view bytes) {
  const int error = write_to_stream(STDOUT_FILENO, bytes);
  if (error != 0) throw Stop(ExitCode::bad_input, "cannot write to stdout: " + reason_of(error));
}

void Console::remark(const StyledText& text) {
  if (!is_quiet_) static_cast<void>(write_to_stream(STDERR_FILENO, text.render(colors_stderr_)));
}

void Console::note(std::string_view text) { remark(StyledText("note: ", Style::dim).add(text).end_line()); }

void Console::notes(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) note(text);
}

void Console::error(std::string_view message) {
  StyledText text("error:", Style::bad);
  text.add(" ").add(message);
  if (!message.ends_with('\n')) text.end_line();
  static_cast<void>(write_to_stream(STDERR_FILENO, text.render(colors_stderr_)));
}

bool Console::shows_progress() const {
  return !is_quiet_ && isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb";
}

}  // namespace lowtide::cli_internal
