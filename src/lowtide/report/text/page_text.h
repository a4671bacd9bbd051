// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace lowtide::report_internal {

// A name as the page shows it: well-formed UTF-8 in which every character is visible. Invalid bytes and control
// characters become "\x1b". Line separators, invisible characters and marks that change the direction of text become
// "\u{202e}". A backslash stays as it is, so this form is only for display. If the name is longer than
// 4,096 bytes, its middle is replaced by "...".
[[nodiscard]] std::string name_in_page(std::string_view name);

// Escapes text for use between HTML tags.
[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace lowtide::report_internal
