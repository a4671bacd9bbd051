// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace lowtide {

// "an input", "a constant": goes by the first letter alone, which is enough for our own words.
[[nodiscard]] inline std::string with_article(std::string_view noun) {
  const bool is_vowel = !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + std::string(noun);
}

}  // namespace lowtide
