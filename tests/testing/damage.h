// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/random.h"

namespace lowtide::testing {

// The text after one to four random edits, for tests of readers. An edit deletes or copies a part of the text, flips a
// bit, changes a digit, or inserts one of `words`.
[[nodiscard]] inline std::string damaged(std::string text, Random& random, const std::vector<std::string_view>& words) {
  for (std::uint64_t edits = 1 + random.below(4); edits > 0; --edits) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = std::min<std::size_t>(random.below(30), text.size() - at);
    switch (random.below(6)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(random.below(text.size() + 1), text.substr(at, length)); break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        break;
      case 3:
        if (const std::size_t digit = text.find_first_of("0123456789", at); digit != std::string::npos) {
          text[digit] = static_cast<char>('0' + random.below(10));
        }
        break;
      default: text.insert(at, words[random.below(words.size())]);
    }
  }
  return text;
}

}  // namespace lowtide::testing
