// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide::c_writer_internal {

// The most characters of a name in an identifier.
inline constexpr std::size_t kMostNameCharacters = 40;

// A name as a part of identifiers: lower case letters, digits and single underscores, which begins and ends with
// neither. "serving_default_x:0" becomes "serving_default_x_0". Empty if nothing is left.
[[nodiscard]] std::string identifier_part(std::string_view name);

// The prefix of all symbols of a model. It begins with a letter. A name without letters and digits gives "model".
[[nodiscard]] std::string prefix_of(std::string_view name);

// Parts of identifiers that all differ. An empty one becomes `fallback`.
[[nodiscard]] std::vector<std::string> identifier_parts(std::span<const std::string> names,
                                                        const std::string& fallback);

// Lower case letters become upper case.
[[nodiscard]] std::string in_capitals(std::string_view name);

// A text that any block comment of C may contain: it has neither an end nor a begin of a comment, no trigraph, no
// invisible character, and only UTF-8. At most `most` bytes of it are shown.
[[nodiscard]] std::string comment_text(std::string_view text, std::size_t most = 100);

}  // namespace lowtide::c_writer_internal
