// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>

namespace lowtide::detail {

// toml++ states what it believes of a text, and some texts are otherwise. It would abort then, or let the compiler
// rely on it; here it throws, and the text is refused.
class TomlBelief : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
constexpr void check_toml_belief(bool holds) {
  if (!holds) throw TomlBelief("toml++ gave up");
}

}  // namespace lowtide::detail

// Private to the sources of this room: nothing else may see toml++.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#define TOML_ASSERT(belief) ::lowtide::detail::check_toml_belief(static_cast<bool>(belief))
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"

namespace lowtide::detail {

// Where a description is wrong; the offence that is met first is kept.
class TomlErrors {
 public:
  explicit TomlErrors(std::string source_name) : source_name_(std::move(source_name)) {}

  void refuse(const toml::source_position& at, std::string message, ErrorCode code = ErrorCode::invalid);
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  std::string source_name_;
  std::optional<Error> first_;
};

// A text and where it is.
struct TomlText {
  std::string text;
  toml::source_position at;
};

// One table of a description. Each reader gives the value of a key, or the fallback if the key is not there; what is
// wrong with it goes to the errors. `keys` are all that may stand in the table.
class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string what, std::initializer_list<std::string_view> keys,
            TomlErrors& errors);

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] toml::source_position place_of(std::string_view key) const;

  // Not empty, at most limits::kMaxNameBytes.
  [[nodiscard]] std::string name(std::string_view key) const;
  // An integer, or text such as "256KiB"; in [least, most]. `way_out` ends the refusal of a number out of range.
  [[nodiscard]] Bytes bytes(std::string_view key, Bytes fallback, std::int64_t least, std::int64_t most,
                            std::string_view way_out) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t least,
                                     std::int64_t most) const;
  // Finite and in [least, most]. Without a fallback the key is needed.
  [[nodiscard]] double real(std::string_view key, std::optional<double> fallback, double least, double most) const;
  [[nodiscard]] bool boolean(std::string_view key, bool fallback) const;
  // The tables of `[[key]]`; none if the key is not there.
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key) const;

  // The elements of `key = ["a", "b"]`, each a name; none if the key is not there.
  [[nodiscard]] std::vector<TomlText> names(std::string_view key) const;

  void refuse(std::string_view key, const std::string& message) const;
  void refuse_at(const toml::source_position& at, std::string_view key, const std::string& message) const;

 private:
  // The name that a node holds; empty if it is refused.
  [[nodiscard]] std::string name_of(const toml::node& node, std::string_view key) const;

  const toml::table& table_;
  std::string what_;  // "region 0", for messages
  TomlErrors& errors_;
};

// Refuses what no description needs and toml++ 3.3 does not bear (it says "unreachable" of most characters outside
// ASCII that it meets between tokens, and frees nested tables by recursion): control characters, characters outside
// ASCII elsewhere than in comments and in lines `key = "text"`, texts in three quotes, and more than
// limits::kMaxTextDepth dots of keys on a line, or 65,536 in the file.
[[nodiscard]] Result<void> check_toml_surface(std::string_view toml, const std::string& source_name);

}  // namespace lowtide::detail
