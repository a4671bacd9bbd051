// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide {

// Names come from files and may hold anything: terminal escapes, newlines, invalid UTF-8, 50 MB.
// `quoted` makes one safe to print on one line: in single quotes, invalid UTF-8 and what acts_instead_of_being_seen as
// \xNN for each byte, backslash and quote escaped, and cut in the middle beyond `most` bytes
// ("'abc...xyz' (52428800 bytes)").
[[nodiscard]] std::string quoted(std::string_view name, std::size_t most = 120);

// The same escapes in double quotes and never cut: lossless, read back by `unescaped`. Used by the text forms.
[[nodiscard]] std::string escaped(std::string_view text);

// Inverse of `escaped` for the part between the quotes; false if an escape is malformed.
[[nodiscard]] bool unescaped(std::string_view between_quotes, std::string& out);

// Whether a character changes how the text around it is shown, or shows nothing: controls, marks of direction ("bidi")
// and of no width, line and paragraph separators, noncharacters that some parsers stumble over, tags.
[[nodiscard]] bool acts_instead_of_being_seen(std::uint32_t code_point);

// Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace lowtide
