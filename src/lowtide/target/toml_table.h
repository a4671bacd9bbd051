// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>

namespace lowtide::target_internal {

// For some texts, assertions of toml++ fail. Its own assertion macro would abort, or would let the compiler assume that
// the condition holds. check_toml_assertion throws this exception instead, and the text is refused.
class TomlGaveUp : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
constexpr void check_toml_assertion(bool holds) {
  if (!holds) throw TomlGaveUp("toml++ gave up");
}

}  // namespace lowtide::target_internal

// Only the sources of this room may include toml++.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#define TOML_ASSERT(statement) ::lowtide::target_internal::check_toml_assertion(static_cast<bool>(statement))
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

namespace lowtide::target_internal {

// Keeps the first refusal of a description.
class TomlErrors {
 public:
  explicit TomlErrors(std::string source_name) : source_name_(std::move(source_name)) {}

  void refuse(const toml::source_position& at, std::string message, ErrorCode code = ErrorCode::invalid);
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  std::string source_name_;
  std::optional<Error> first_;
};

// A text and its place.
struct TomlText {
  std::string text;
  toml::source_position at;
};

// A table of a description. Each reader returns the value of a key, or the fallback if the key is absent. It reports a
// value that is wrong to `errors`. The constructor reports keys that are not in `keys`.
class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string what, std::initializer_list<std::string_view> keys,
            TomlErrors& errors);

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] toml::source_position place_of(std::string_view key) const;

  // A text that is not empty and has at most limits::kMaxNameBytes. The key is required.
  [[nodiscard]] std::string name(std::string_view key) const;
  // An integer, or a text such as "256KiB", in [least, most]. `way_out` ends the message about a number out of range.
  [[nodiscard]] Bytes bytes(std::string_view key, Bytes fallback, std::int64_t least, std::int64_t most,
                            std::string_view way_out) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t least,
                                     std::int64_t most) const;
  // A finite number in [least, most]. Without a fallback the key is required.
  [[nodiscard]] double real(std::string_view key, std::optional<double> fallback, double least, double most) const;
  [[nodiscard]] bool boolean(std::string_view key, bool fallback) const;
  // The tables of `[[key]]`. Empty if the key is absent.
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key) const;

  // The names of `key = ["a", "b"]`. Empty if the key is absent.
  [[nodiscard]] std::vector<TomlText> names(std::string_view key) const;

  void refuse(std::string_view key, const std::string& message) const;
  void refuse_at(const toml::source_position& at, std::string_view key, const std::string& message) const;

 private:
  // The name in a node. Empty if it is refused.
  [[nodiscard]] std::string name_of(const toml::node& node, std::string_view key) const;

  const toml::table& table_;
  std::string what_;  // "region 0", for messages
  TomlErrors& errors_;
};

// Refuses texts that no description needs and that toml++ 3.3 cannot parse safely: it treats most characters outside
// ASCII between tokens as unreachable code, and it frees nested tables by recursion. So these are refused: control
// characters; characters outside ASCII, except in comments and in lines `key = "text"`; texts in three quotes; and more
// than limits::kMaxTextDepth dots of keys on a line, or 65,536 in the file.
[[nodiscard]] Result<void> check_toml_surface(std::string_view toml, const std::string& source_name);

}  // namespace lowtide::target_internal
