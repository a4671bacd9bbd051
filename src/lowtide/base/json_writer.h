// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "lowtide/base/bytes.h"

namespace lowtide {

// Appends `text` as a JSON string that every JSON reader accepts, for any bytes. Quotes and control characters are
// escaped as JSON defines it. A byte that is not UTF-8 becomes the four characters \xNN, and a backslash becomes two,
// so no information is lost. `decode_json_name` restores the text.
void append_json_name(std::string& out, std::string_view text);

// The inverse of `append_json_name` after a JSON reader has decoded JSON's own escapes. Returns false if a backslash is
// followed by anything except a backslash or x and two hexadecimal digits.
[[nodiscard]] bool decode_json_name(std::string_view text, std::string& out);

// Appends `text` as a JSON string that is safe inside an HTML <script> element: '<', '>', '&', control characters and
// line separators are \u escapes. Requires: `text` is UTF-8.
void append_script_json_string(std::string& out, std::string_view text);

// Writes JSON into a string, element by element, and inserts the commas. Numbers are integers. Requires: the string
// outlives the writer.
class JsonWriter {
 public:
  enum class Style : std::uint8_t {
    file,    // strings are written by append_json_name; one space after commas and colons
    script,  // strings are written by append_script_json_string; no spaces
  };
  // Whether the elements of a container share one line, or each has its own line.
  enum class Layout : std::uint8_t { one_line, lines };

  explicit JsonWriter(std::string& out, Style style = Style::file) : out_(out), style_(style) {}

  void begin_object(Layout layout = Layout::one_line) { open('{', layout); }
  void end_object() { close('}'); }
  void begin_array(Layout layout = Layout::one_line) { open('[', layout); }
  void end_array() { close(']'); }

  // The key of the next value.
  void key(std::string_view name);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(std::int64_t number);
  void value(Bytes bytes) { value(bytes.count()); }
  void value(Offset offset) { value(offset.position()); }
  // Accepts only bool, because a pointer would convert to bool.
  void value(std::same_as<bool> auto truth) { literal(truth ? "true" : "false"); }
  void null() { literal("null"); }

  template <typename T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

 private:
  void open(char bracket, Layout layout);
  void close(char bracket);
  void literal(std::string_view text);
  void append_string(std::string_view text);
  void start_element();

  std::string& out_;
  Style style_;
  std::string levels_;  // one character per open container: its layout, and whether it has an element
  bool after_key_ = false;
};

}  // namespace lowtide
