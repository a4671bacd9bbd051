// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/dtype.h"

#include <array>
#include <cstddef>

namespace lowtide {

std::optional<int> bits_of(DType dtype) {
  static constexpr std::array<int, kEnumNames<DType>.size()> kBits = {64, 32, 16, 16, 8,  8,  8, 8, 8, 4, 64, 32,  16,
                                                                      8,  4,  2,  64, 32, 16, 8, 4, 2, 8, 64, 128, 0};
  const int bits = kBits[static_cast<std::size_t>(dtype)];
  return bits == 0 ? std::nullopt : std::optional<int>(bits);
}

}  // namespace lowtide
