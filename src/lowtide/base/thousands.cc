// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/thousands.h"

#include <array>
#include <cstdio>

namespace lowtide {

std::string with_thousands(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first_digit + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string shown_nanoseconds(std::int64_t nanoseconds) {
  std::array<char, 48> text{};
  const auto number = static_cast<double>(nanoseconds);
  if (nanoseconds < 1'000'000) {
    std::snprintf(text.data(), text.size(), "%.2f us", number / 1e3);
  } else if (nanoseconds < 1'000'000'000) {
    std::snprintf(text.data(), text.size(), "%.2f ms", number / 1e6);
  } else {
    std::snprintf(text.data(), text.size(), "%.2f s", number / 1e9);
  }
  return text.data();
}

}  // namespace lowtide
