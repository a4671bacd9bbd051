// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "lowtide/base/check.h"
#include "lowtide/base/enum_names.h"

namespace lowtide {

// Why an input was refused. The cause is always the input or the environment, never a bug in Lowtide.
enum class ErrorCode : std::uint8_t {
  malformed,    // not the format that it claims to be
  invalid,      // well-formed, but violates the rules of the format or of the graph
  unsupported,  // valid, but Lowtide does not understand it
  unresolved,   // sizes remain unknown; the message lists the symbols and how to bind them
  over_limit,   // beyond a named limit of base/limits.h
  mismatch,     // two inputs do not belong together, such as a plan and a model
  io,           // a file could not be read or written
  no_memory,    // the system refused memory
};
template <>
inline constexpr auto kEnumNames<ErrorCode> = enum_names<ErrorCode>({{ErrorCode::malformed, "malformed"},
                                                                     {ErrorCode::invalid, "invalid"},
                                                                     {ErrorCode::unsupported, "unsupported"},
                                                                     {ErrorCode::unresolved, "unresolved"},
                                                                     {ErrorCode::over_limit, "over_limit"},
                                                                     {ErrorCode::mismatch, "mismatch"},
                                                                     {ErrorCode::io, "io"},
                                                                     {ErrorCode::no_memory, "no_memory"}});

// Why an input was refused. The message states what is wrong with which part of the input, the two numbers that
// disagree, and what to do.
struct Error {
  ErrorCode code = ErrorCode::invalid;
  std::string message;  // a sentence or a short list; safe to print, because `quoted` has quoted the names
  std::string place;    // where in the input: "model.onnx: graph 'main': node 12 'conv1'"; may be empty

  // "place: message", or only the message if there is no place.
  [[nodiscard]] std::string describe() const;
};

// A value, or the error that explains why there is none. Reading the one that is absent is a bug (InvariantViolation).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor): `return value;`
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor): `return error;`

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    LOWTIDE_CHECK(ok(), "a value is read only if there is one");
    return *std::get_if<T>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    LOWTIDE_CHECK(ok(), "a value is read only if there is one");
    return *std::get_if<T>(&state_);
  }
  [[nodiscard]] T&& value() && {
    LOWTIDE_CHECK(ok(), "a value is read only if there is one");
    return std::move(*std::get_if<T>(&state_));
  }
  [[nodiscard]] const Error& error() const {
    LOWTIDE_CHECK(!ok(), "an error is read only when there is one");
    return *std::get_if<Error>(&state_);
  }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor): `return error;`

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const {
    LOWTIDE_CHECK(!ok(), "an error is read only when there is one");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace lowtide

// Returns the error of `expression` from the enclosing function, if there is one.
#define LOWTIDE_RETURN_IF_ERROR(expression)                    \
  do {                                                         \
    auto lowtide_outcome = (expression);                       \
    if (!lowtide_outcome.ok()) return lowtide_outcome.error(); \
  } while (false)
