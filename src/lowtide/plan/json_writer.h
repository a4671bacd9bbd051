// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "lowtide/base/bytes.h"

namespace lowtide {

// Appends `text` as a JSON string that every reader of JSON takes, whatever its bytes: quotes and control characters
// (also those of C1) escaped as JSON does, and a byte that is not UTF-8 as the four characters \xNN; so that this is
// lossless, a backslash in `text` becomes two. `decode_json_name` is the way back.
void append_json_name(std::string& out, std::string_view text);

// What `append_json_name` wrote, after JSON's own escapes have been read; false if a backslash is followed by
// anything but a backslash or x and two hexadecimal digits.
[[nodiscard]] bool decode_json_name(std::string_view text, std::string& out);

// Writes JSON into a string, element by element; commas come by themselves. Numbers are integers; names are written
// by `append_json_name`. Each container is on one line, or has one line for each element.
class JsonWriter {
 public:
  enum class Layout : std::uint8_t { one_line, lines };

  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object(Layout layout = Layout::one_line) { open('{', layout); }
  void end_object() { close('}'); }
  void begin_array(Layout layout = Layout::one_line) { open('[', layout); }
  void end_array() { close(']'); }

  // The key of the next value.
  void key(std::string_view name);
  void value(std::string_view name);
  void value(const char* name) { value(std::string_view(name)); }
  void value(std::int64_t number);
  void value(Bytes bytes) { value(bytes.count()); }
  void value(Offset offset) { value(offset.position()); }
  // Only bool itself: a pointer is not one.
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
  void start_element();

  std::string& out_;
  std::string levels_;  // one character a level: the layout, and whether something stands in it
  bool after_key_ = false;
};

}  // namespace lowtide
