// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace lowtide::testing {

// Numbers and words of an answer in one word of 16 digits: FNV-1a (Fowler, Noll and Vo) over their bytes, lowest first.
// Tests compare it with a literal, so that a compiler, a library or a machine that gives another answer is noticed.
class AnswerHash {
 public:
  void add(std::int64_t number) {
    for (int byte = 0; byte < 8; ++byte) add_byte(static_cast<std::uint64_t>(number) >> (8 * byte) & 0xFFU);
  }
  void add(std::string_view word) {
    for (char character : word) add_byte(static_cast<unsigned char>(character));
    add(static_cast<std::int64_t>(word.size()));
  }

  [[nodiscard]] std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state_));
    return digits;
  }

 private:
  void add_byte(std::uint64_t byte) { state_ = (state_ ^ byte) * 0x100000001B3ULL; }

  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

}  // namespace lowtide::testing
