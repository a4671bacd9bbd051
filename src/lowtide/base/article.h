// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide {

// The noun with its indefinite article: "an input", "a constant". Only the first letter is considered, which is
// sufficient for the nouns of this project.
[[nodiscard]] inline std::string with_article(std::string_view noun) {
  const bool is_vowel = !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + std::string(noun);
}

// A count with its noun in the singular or plural: "1 input", "2 inputs".
[[nodiscard]] inline std::string with_count(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace lowtide
