// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"

namespace lowtide::detail {

// Reads JSON (RFC 8259) of a known form from front to back: the caller says what must come next, so nothing is built
// that was not asked for. Each function says whether that was there; the first refusal is kept in `error`, with line,
// column and path, and ends the reading.
class JsonReader {
 public:
  JsonReader(std::string_view text, std::string source_name) : text_(text), source_name_(std::move(source_name)) {}

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  // Always false, so that a caller can return it. The place is the value read last, or about to be read.
  bool fail(ErrorCode code, std::string message);
  bool fail_expected(std::string_view what);

  // Calls `read(index into keys)` for each member; the members may come in any order. Unknown, repeated and missing
  // keys are refused.
  template <typename Read>
  bool read_object(std::span<const std::string_view> keys, Read read) {
    std::uint64_t seen = 0;
    if (!begin('{', "an object")) return false;
    for (bool is_first = true; has_element('}', is_first); is_first = false) {
      std::size_t index = 0;
      if (!read_key(keys, seen, index)) return false;
      path_.push_back({keys[index], 0});
      if (!read(index)) return false;
      path_.pop_back();
    }
    return !error_ && check_complete(keys, seen);
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

  // An array with one element for each column. In paths the name of the column stands for its index.
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

  // A name as written by append_json_name.
  bool read_name(std::string& out);
  // In [least, most]; `what` says what the number is.
  bool read_integer(std::string_view what, std::int64_t least, std::int64_t most, std::int64_t& out);
  bool read_bool(bool& out);
  // Takes `null`, if it is next.
  bool accept_null();

  // Any value, checked against the grammar of JSON and limits::kMaxTextDepth. `depth`: what is open around it.
  bool skip_value(int depth);
  bool read_end();

  // Reads an object whose members are not known before: `read(key)` must read or skip the value. No key gets into paths
  // by itself, since it may be any text; read_member puts those there that are known.
  template <typename Read>
  bool read_any_object(Read read) {
    std::string key;
    if (!begin('{', "an object")) return false;
    for (bool is_first = true; has_element('}', is_first); is_first = false) {
      if (!read_string(&key) || !expect(':', "after a key") || !read(key)) return false;
    }
    return !error_;
  }

  // A value that paths name `key`, a literal.
  template <typename Read>
  bool read_member(std::string_view key, Read read) {
    path_.push_back({key, 0});
    if (!read()) return false;
    path_.pop_back();
    return true;
  }

  [[nodiscard]] std::string path() const;

 private:
  struct PathStep {
    std::string_view key;  // empty: an index
    std::size_t index;
  };

  void skip_blanks();
  char peek();  // the next character that is no blank; '\0' at the end
  bool begin(char bracket, std::string_view what);
  bool expect(char c, std::string_view where);
  bool has_element(char closing, bool is_first);
  bool read_key(std::span<const std::string_view> keys, std::uint64_t& seen, std::size_t& index);
  bool check_complete(std::span<const std::string_view> keys, std::uint64_t seen);
  bool has_column(std::size_t column, std::span<const std::string_view> columns);
  bool ends_row(std::span<const std::string_view> columns);
  bool read_string(std::string* out);  // nullptr: only checked
  bool read_escape(std::string* out);
  bool read_hex(std::uint32_t& out);
  bool read_literal(std::string_view literal);
  bool read_number(std::string_view& out, bool& is_integer);
  bool skip_scalar();
  [[nodiscard]] std::string found();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t value_at_ = 0;  // where the value read last begins
  std::string source_name_;
  std::vector<PathStep> path_;
  std::string scratch_;
  std::optional<Error> error_;
};

}  // namespace lowtide::detail
