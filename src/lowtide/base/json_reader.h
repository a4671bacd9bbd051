// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/result.h"

namespace lowtide {

// Reads JSON (RFC 8259) of a known form from front to back. The caller states which value must come next, so no tree is
// built. Each function returns whether that value was there. The first error is kept in `error`, with line, column and
// path. After an error, the caller must read nothing more.
//
//   JsonReader json(text, "order.json");
//   std::int64_t bytes = 0;
//   const auto read = [&](std::size_t key) { return json.read_integer("a size", 0, most, bytes); };
//   const bool ok = json.read_object(kKeys, read);
//   if (!ok) return *json.error();
//
// Time is linear in the length of the text. It does not recurse, but the caller's functions may.
class JsonReader {
 public:
  JsonReader(std::string_view text, std::string source_name) : text_(text), source_name_(std::move(source_name)) {}

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  // Set the error and return false, so that a caller can return the result. The place of the error is the value that
  // was read last, or the next one. The message of fail_expected is "expected <what>, found <next token>".
  bool fail(ErrorCode code, std::string message);
  bool fail_expected(std::string_view what);

  // Calls `read(index into keys)` for each member, in any order. Refuses unknown, repeated and missing keys. The last
  // `optional` keys may be missing. Requires: at most 64 keys.
  template <typename Read>
  bool read_object(std::span<const std::string_view> keys, Read read) {
    return read_object(keys, 0, std::move(read));
  }
  template <typename Read>
  bool read_object(std::span<const std::string_view> keys, std::size_t optional, Read read) {
    std::uint64_t seen = 0;
    if (!begin('{', "an object")) return false;
    for (bool is_first = true; has_element('}', is_first); is_first = false) {
      std::size_t index = 0;
      if (!read_key(keys, seen, index)) return false;
      path_.push_back({keys[index], 0});
      if (!read(index)) return false;
      path_.pop_back();
    }
    return !error_ && check_complete(keys.first(keys.size() - optional), seen);
  }

  // Calls `read()` for each element.
  template <typename Read>
  bool read_array(Read read) {
    if (!begin('[', "an array")) return false;
    path_.push_back({{}, 0});
    for (bool is_first = true; has_element(']', is_first); is_first = false) {
      if (!read()) return false;
      ++path_.back().index;
    }
    path_.pop_back();
    return !error_;
  }

  // Reads an array with one element per column, and calls `read(index into columns)` for each. Paths name the column
  // instead of its index.
  template <typename Read>
  bool read_row(std::span<const std::string_view> columns, Read read) {
    if (!begin('[', "a row")) return false;
    for (std::size_t column = 0; column < columns.size(); ++column) {
      if (!has_column(column, columns)) return false;
      path_.push_back({columns[column], 0});
      if (!read(column)) return false;
      path_.pop_back();
    }
    return ends_row(columns);
  }

  // The next character that is not white space, which tells what kind of value comes next; '\0' at the end.
  char peek();
  // Reads a name that append_json_name wrote.
  bool read_name(std::string& out);
  // Reads a string as it is, such as a text for people.
  bool read_text(std::string& out);
  // Reads an integer in [least, most]. `what` says in messages what the number is: "a size".
  bool read_integer(std::string_view what, std::int64_t least, std::int64_t most, std::int64_t& out);
  bool read_bool(bool& out);
  // Reads `null` if it is next, and returns whether it was.
  bool accept_null();

  // Reads any value and checks the grammar of JSON and limits::kMaxTextDepth. `depth` is the number of open containers
  // around the value.
  bool skip_value(int depth);
  // Fails unless only white space remains.
  bool read_end();

  // Reads an object with unknown keys: `read(key)` must read or skip the value. Paths do not show these keys, because
  // they may be any text; use read_member for those that paths should show.
  template <typename Read>
  bool read_any_object(Read read) {
    std::string key;
    if (!begin('{', "an object")) return false;
    for (bool is_first = true; has_element('}', is_first); is_first = false) {
      if (!read_string(&key) || !expect(':', "after a key") || !read(key)) return false;
    }
    return !error_;
  }

  // Calls `read()`, and adds `key` to the paths of what it reads. Requires: `key` outlives the call.
  template <typename Read>
  bool read_member(std::string_view key, Read read) {
    path_.push_back({key, 0});
    if (!read()) return false;
    path_.pop_back();
    return true;
  }

  // How many bytes of the text have been read. Before an element and after it, these are the ends of its text.
  [[nodiscard]] std::size_t position() const { return at_; }

  // The place of the current value in the tree: "$.steps[12].writes[0]".
  [[nodiscard]] std::string path() const;

 private:
  struct PathStep {
    std::string_view key;  // empty: an index
    std::size_t index;
  };

  void skip_blanks();
  bool begin(char bracket, std::string_view what);
  bool expect(char c, std::string_view where);
  bool has_element(char closing, bool is_first);
  bool read_key(std::span<const std::string_view> keys, std::uint64_t& seen, std::size_t& index);
  bool check_complete(std::span<const std::string_view> keys, std::uint64_t seen);
  bool has_column(std::size_t column, std::span<const std::string_view> columns);
  bool ends_row(std::span<const std::string_view> columns);
  bool read_string(std::string* out);  // nullptr: only checks
  bool read_escape(std::string* out);
  bool read_hex(std::uint32_t& out);
  bool read_literal(std::string_view literal);
  bool read_number(std::string_view& out, bool& is_integer);
  bool skip_scalar();
  [[nodiscard]] std::string found();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t value_at_ = 0;  // where the value that was read last begins
  std::string source_name_;
  std::vector<PathStep> path_;
  std::string scratch_;
  std::optional<Error> error_;
};

}  // namespace lowtide
