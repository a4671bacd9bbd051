// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace lowtide {

// How the size of a file changed, for the end of a sentence: ": it had 12 bytes and now has 10". Returns "" for equal
// sizes.
[[nodiscard]] inline std::string change_of_size(std::int64_t before, std::int64_t now) {
  if (before == now) return "";
  return ": it had " + std::to_string(before) + " bytes and now has " + std::to_string(now);
}

}  // namespace lowtide
