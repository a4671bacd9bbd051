// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide::report_internal {

// A name as the page shows it: always well-formed UTF-8 without anything that acts instead of being seen. Invalid
// bytes and control characters become "\x1b"; line separators, invisible marks and marks that reverse the direction of
// text become "\u{202e}". A backslash stays as it is, so the form is for eyes, not lossless. Beyond
// limits::kMaxNameBytes the middle is left out.
[[nodiscard]] std::string name_in_page(std::string_view name);

// A JSON string that is safe inside <script>: '<', '>' and '&' and everything outside ASCII's printable part that
// could end the element or the line are \u escapes. Require: `text` is UTF-8 (name_in_page makes it so).
void append_json_string(std::string& out, std::string_view text);
void append_json_integer(std::string& out, std::int64_t number);
void append_json_integers(std::string& out, std::span<const std::int64_t> numbers);
void append_json_strings(std::string& out, std::span<const std::string> texts);

// `"key":`, after a comma unless an object or list has just begun. Keys are ours: nothing to escape.
void append_json_key(std::string& out, std::string_view key);

// Text between tags.
[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace lowtide::report_internal
