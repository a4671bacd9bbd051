// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide {

// UTF-8 as RFC 3629 defines it: no surrogates, no overlong forms, nothing above U+10FFFF.

// The number of bytes of the well-formed sequence at the start of `text`, 1 to 4. Returns 0 if there is none, or if
// `text` is empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// The code point of one sequence. Requires: utf8_length(sequence) == sequence.size().
[[nodiscard]] std::uint32_t code_point_of(std::string_view sequence);

// Appends the sequence of a code point. Requires: the code point is at most U+10FFFF and not a surrogate.
void append_utf8(std::string& out, std::uint32_t code_point);

// Whether all bytes belong to well-formed sequences.
[[nodiscard]] bool is_utf8(std::string_view text);

// Whether a character is invisible or changes how the text around it is shown: control characters, direction marks
// ("bidi"), zero-width characters, line and paragraph separators, noncharacters, tags.
[[nodiscard]] bool is_invisible_or_format_character(std::uint32_t code_point);

}  // namespace lowtide
