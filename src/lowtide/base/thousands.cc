// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/thousands.h"

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
  return nanoseconds < 1'000'000 ? with_thousands(nanoseconds) + " ns" : with_thousands(nanoseconds / 1000) + " us";
}

}  // namespace lowtide
