// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/report/styled_text.h"

namespace lowtide::cli_internal {

enum class ColorChoice : std::uint8_t { automatic, always, never };

// The two streams of the program: results go to stdout, everything else to stderr. Every write is checked.
class Console {
 public:
  // `automatic` follows, in this order: NO_COLOR set and not empty: no; CLICOLOR_FORCE set, not empty and not 0: yes;
  // TERM=dumb: no; otherwise whether the stream is a terminal.
  void set_colors(ColorChoice choice);
  void set_quiet(bool is_quiet) { is_quiet_ = is_quiet; }
  // Sends results to stderr as well, because a file goes to stdout.
  void keep_stdout_free() { is_stdout_taken_ = true; }

  // Lines have at most as many columns as COLUMNS says or, without it, the terminal. Without both they are as long as
  // they are. Stops with exit code 3 if the write fails (a full disk, a closed pipe).
  void result(const StyledText& text);
  // The same for prose and lists of options, which have 88 columns at most, unless COLUMNS says more.
  void help(const StyledText& text);
  // Writes raw bytes to stdout, even after keep_stdout_free(). Stops with exit code 3 if the write fails.
  void write_stdout(std::string_view bytes);
  // Writes a remark to stderr, except with --quiet.
  void remark(const StyledText& text);
  // Writes "note: ..." to stderr, except with --quiet.
  void note(std::string_view text);
  void notes(const std::vector<std::string>& texts);
  // Writes "error: ..." to stderr, also with --quiet. Never fails.
  void error(std::string_view message);

  // Whether a line on stderr may show what is done, and be erased.
  [[nodiscard]] bool shows_progress() const;
  // Whether the steps of a long command are lines on stderr instead.
  [[nodiscard]] bool writes_steps() const { return !is_quiet_ && !shows_progress(); }

 private:
  void write(const StyledText& text, std::size_t columns);

  bool colors_stdout_ = false;
  bool colors_stderr_ = false;
  bool is_quiet_ = false;
  bool is_stdout_taken_ = false;
};

}  // namespace lowtide::cli_internal
