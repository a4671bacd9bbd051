// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/result.h"

namespace lowtide::cli_internal {

enum class ExitCode : int {
  done = 0,       // done and verified
  no = 1,         // the answer is no: the plan does not fit, or it is wrong
  usage = 2,      // the command line is invalid
  bad_input = 3,  // a file cannot be read or written, is malformed or is unsupported
  internal = 4,   // a bug in Lowtide
};

// Ends a command. The message has one or more lines for stderr and is safe for a terminal.
class Stop : public std::runtime_error {
 public:
  Stop(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// The value of a result, or a Stop with its error.
template <typename T>
[[nodiscard]] T take(Result<T> result) {
  if (!result.ok()) throw Stop(ExitCode::bad_input, result.error().describe());
  return std::move(result).value();
}
inline void take(const Result<void>& result) {
  if (!result.ok()) throw Stop(ExitCode::bad_input, result.error().describe());
}

// The same for a function that does not know the name of the file: the name is added to the error.
template <typename T>
[[nodiscard]] T take(Result<T> result, const std::string& path) {
  if (result.ok()) return std::move(result).value();
  const Error& error = result.error();
  const bool is_line = error.place.empty() || error.place.starts_with(':');  // line and column
  const std::string place = shown_path(path) + (is_line ? "" : ": ") + error.place;
  return take(Result<T>(Error{error.code, error.message, place}));
}

// The command line is wrong, whatever the files contain.
[[noreturn]] inline void stop_usage(const std::string& message) { throw Stop(ExitCode::usage, message); }
// The options and the files do not fit each other, such as an input that the model does not have.
[[noreturn]] inline void stop_unfit(const std::string& message) { throw Stop(ExitCode::bad_input, message); }

// What follows the description of a bug in Lowtide. `file` is what the command reads, such as "model".
inline std::string please_report(const std::string& file = "model") {
  return "\nThis is a bug in lowtide. Please report it with the command line, and the " + file + " if you can.";
}
// A result of Lowtide is wrong, as its verifier says.
[[noreturn]] inline void stop_bug(const std::string& what, const std::string& file = "model") {
  throw Stop(ExitCode::internal, what + please_report(file));
}

}  // namespace lowtide::cli_internal
