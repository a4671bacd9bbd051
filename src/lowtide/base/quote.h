// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lowtide {

// Names come from files and may hold any bytes: terminal escapes, newlines, invalid UTF-8, 50 MB of text.
//
// `quoted` returns a name that is safe to print on one line, in single quotes. Each byte of invalid UTF-8 and of a
// character for which is_invisible_or_format_character holds becomes \xNN. A backslash precedes quotes and
// backslashes. If the name has more than `most` bytes, its middle is omitted: "'abc...xyz' (52428800 bytes)".
[[nodiscard]] std::string quoted(std::string_view name, std::size_t most = 120);

// The path of a file as messages show it: as it is, or as `quoted` returns it if that differs or if it is empty.
[[nodiscard]] std::string shown_path(const std::string& path);

// The same escapes in double quotes, without a length limit. `unescaped` restores the text. The text form of
// graphs uses them.
[[nodiscard]] std::string escaped(std::string_view text);

// The inverse of `escaped` for the part between the quotes. Returns false if an escape is malformed.
[[nodiscard]] bool unescaped(std::string_view between_quotes, std::string& out);

}  // namespace lowtide
