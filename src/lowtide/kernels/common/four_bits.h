// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

namespace lowtide::kernels_internal {

// An element of 4 bits. Two of them share a byte, and the lower bits are the first.
[[nodiscard]] inline std::int32_t integer_of_four_bits(const std::byte* bytes, std::int64_t at, bool is_signed) {
  const auto pair = static_cast<std::uint32_t>(bytes[at / 2]);
  const auto bits = static_cast<std::int32_t>(at % 2 == 0 ? pair & 0xFU : pair >> 4U);
  return is_signed && bits > 7 ? bits - 16 : bits;
}

}  // namespace lowtide::kernels_internal
